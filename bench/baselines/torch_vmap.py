"""Step time of all cells at once: torch.func vmap over grad, eager or compiled (`--compile`).

Parameters of all cells are rows of one (E, P) buffer, so that clipping is one pass with per-cell norms.
The update has per-cell rates and decays: eager uses one fused AdamW group per row, compiled writes the
update with (E, 1) tensors, which inductor turns into one loop.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

import runner
from dump import DEFAULT_NO_DECAY, Dump
from torch_compile import use_compiler
from torch_families import groups_of, make_models
from torch_model import batches


class CellAdamW:
    """AdamW over the rows of (E, P) buffers; columns before `split` decay, the others do not."""

    def __init__(self, dump: Dump, flat: Tensor, split: int) -> None:
        self._flat, self._split, self._step = flat, split, torch.zeros((), device=flat.device)
        self._m, self._v = torch.zeros_like(flat), torch.zeros_like(flat)
        self._numbers = {
            k: torch.tensor(dump.per_cell(k), device=flat.device).unsqueeze(1)
            for k in ("lr", "weight_decay", "beta1", "beta2", "eps", "clip")
        }
        rows = [dump.per_cell(k) for k in ("lr", "weight_decay", "beta1", "beta2", "eps")]
        groups = [
            {"params": [part], "lr": lr, "weight_decay": wd * decays, "betas": (b1, b2), "eps": eps}
            for row, lr, wd, b1, b2, eps in zip(flat, *rows, strict=True)
            for part, decays in ((row[:split], 1.0), (row[split:], 0.0))
        ]
        self._optimizer = torch.optim.AdamW(groups, fused=True)
        self._parts = [group["params"][0] for group in groups]

    def clip(self, grad: Tensor) -> Tensor:
        """Gradient (E, P) with each row's norm at most the cell's bound."""
        norm = torch.linalg.vector_norm(grad, dim=1, keepdim=True)
        return grad * (self._numbers["clip"] / (norm + 1e-6)).clamp(max=1.0)

    def fused(self, grad: Tensor) -> None:
        """One stock fused kernel per row and decay group."""
        clipped = self.clip(grad)
        slices = [part for row in clipped for part in (row[: self._split], row[self._split :])]
        for part, piece in zip(self._parts, slices, strict=True):
            part.grad = piece
        self._optimizer.step()

    def tensors(self, grad: Tensor) -> None:
        """The same update as tensor expressions; meant to be compiled."""
        n = self._numbers
        grad = self.clip(grad)
        self._step.add_(1.0)
        self._m.lerp_(grad, 1.0 - n["beta1"])
        self._v.mul_(n["beta2"]).add_((1.0 - n["beta2"]) * grad * grad)
        rate = n["lr"] / (1.0 - n["beta1"] ** self._step)
        denominator = (self._v / (1.0 - n["beta2"] ** self._step)).sqrt() + n["eps"]
        self._flat[:, : self._split].mul_(1.0 - n["lr"] * n["weight_decay"])
        self._flat.sub_(rate * self._m / denominator)


class FusedCells:
    """Trains all cells of a dump as one batched model."""

    def __init__(
        self, dump: Dump, precision: str, *, compiled: bool, explicit: bool, mode: str = "default", device: str = "cpu"
    ) -> None:
        models = make_models(dump, device, explicit=explicit)
        no_decay = dump.config.get("no_decay", DEFAULT_NO_DECAY)
        decayed = {name for name, group in groups_of(dump, models[0]).items() if group not in no_decay}
        state, _ = stack_module_state(models)  # type: ignore[arg-type]
        names = sorted(state, key=lambda name: name not in decayed)
        flat = torch.cat([state[n].detach().flatten(1) for n in names], dim=1)
        sizes = [state[n][0].numel() for n in names]
        views = [part.view_as(state[n]) for n, part in zip(names, flat.split(sizes, dim=1), strict=True)]
        for view in views:
            torch._dynamo.mark_static_address(view)  # a CUDA graph reads them where they are
        self._parameters = dict(zip(names, views, strict=True))
        self._inputs, self._targets = batches(dump, device)
        self._dt = torch.tensor(dump.per_cell("residual_scale"), device=device)
        model = models[0]

        def loss(parameters: dict[str, Tensor], inputs: Tensor, targets: Tensor, dt: Tensor) -> Tensor:
            with torch.autocast(inputs.device.type, torch.bfloat16, enabled=precision == "bf16"):
                return functional_call(model, parameters, (inputs, targets, dt))

        def gradient(parameters: dict[str, Tensor], *batch: Tensor) -> tuple[Tensor, Tensor]:
            grads, losses = vmap(grad_and_value(loss))(parameters, *batch)
            return torch.cat([grads[n].flatten(1) for n in names], dim=1), losses

        optimizer = CellAdamW(dump, flat, sum(s for n, s in zip(names, sizes, strict=True) if n in decayed))
        how = {"dynamic": False, "mode": None if mode == "default" else mode}
        self._gradient = torch.compile(gradient, **how) if compiled else gradient
        self._update = torch.compile(optimizer.tensors, dynamic=False) if compiled else optimizer.fused

    def train(self, first: int, steps: int) -> np.ndarray:
        losses = []
        for step in range(first, first + steps):
            batch = step % len(self._inputs)
            grad, loss = self._gradient(self._parameters, self._inputs[batch], self._targets[batch], self._dt)
            with torch.no_grad():
                self._update(grad)
            losses.append(loss.clone())  # a CUDA graph writes the next one into the same memory
        return torch.stack(losses).cpu().numpy()


def make(dump: Dump, arguments: argparse.Namespace) -> runner.Trainer:
    use_compiler(arguments)
    explicit = arguments.attention == "explicit"
    return FusedCells(
        dump, arguments.precision, compiled=arguments.compile, explicit=explicit, mode=arguments.mode,
        device=arguments.device,
    )  # fmt: skip


if __name__ == "__main__":
    options = runner.parser(__doc__)
    options.add_argument("--compile", action="store_true", help="compile gradient and update")
    options.add_argument("--mode", default="default", help="mode of torch.compile; reduce-overhead: CUDA graphs")
    options.add_argument("--attention", choices=("explicit", "sdpa"), default="explicit")
    parsed = options.parse_args()
    runner.main("torch vmap compiled" if parsed.compile else "torch vmap", parsed, make)
