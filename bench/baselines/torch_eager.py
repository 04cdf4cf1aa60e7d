"""Step time of PyTorch eager, one cell after another (with `--processes 2`: one process per core).

What a careful user writes: fused q, k, v, SDPA, fused AdamW, foreach clipping, gradients set to none,
no host synchronisation inside the loop; bf16 by autocast. `--scan`: how state-space layers are computed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

import runner
from dump import Dump
from torch_families import groups_of, make_models
from torch_model import Model, batches, use
from torch_ssm import SCANS

LossFn = Callable[[Model, Tensor, Tensor, float | Tensor], Tensor]


def loss_of(model: Model, inputs: Tensor, targets: Tensor, dt: float | Tensor) -> Tensor:
    return model(inputs, targets, dt)


class CellLoop:
    """Trains the cells of a dump one after another with stock optimisers."""

    def __init__(
        self, dump: Dump, precision: str, loss: LossFn = loss_of, *, tensor_dt: bool = False, device: str = "cpu",
        **options: str,
    ) -> None:  # fmt: skip
        self._models = make_models(dump, device, **options)
        self._inputs, self._targets = batches(dump, device)
        self._loss, self._bf16 = loss, precision == "bf16"
        self._clip = dump.per_cell("clip")
        scales = dump.per_cell("residual_scale")
        self._dt: list[float | Tensor] = [torch.tensor(s, device=device) if tensor_dt else s for s in scales]
        self._clipped = [clipped_together(dump, model) for model in self._models]
        self._optimizers = [optimizer_of(dump, model, cell) for cell, model in enumerate(self._models)]

    def train(self, first: int, steps: int) -> np.ndarray:
        losses = [self._train_cell(cell, first, steps) for cell in range(len(self._models))]
        return torch.stack(losses, dim=1).flatten(1).cpu().numpy()

    def _train_cell(self, cell: int, first: int, steps: int) -> Tensor:
        model, optimizer = self._models[cell], self._optimizers[cell]
        losses = []
        for step in range(first, first + steps):
            batch = step % len(self._inputs)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(self._inputs.device.type, torch.bfloat16, enabled=self._bf16):
                loss = self._loss(model, self._inputs[batch, cell], self._targets[batch, cell], self._dt[cell])
            total_of(loss, model).backward()
            for parameters in self._clipped[cell]:
                torch.nn.utils.clip_grad_norm_(parameters, self._clip[cell], foreach=True)
            optimizer.step()
            losses.append(loss.detach().clone())  # a CUDA graph writes the next one into the same memory
        return torch.stack(losses)


def total_of(loss: Tensor, model: Model) -> Tensor:
    """What is minimised: the loss, or the weighted sum of several."""
    return loss @ model.loss_weights if loss.ndim else loss


CHOOSERS = {"tdt": {"tpn", "scalars", "router"}, "mod": {"predictor"}}
"""Parameter groups that only help to choose tokens; `train.clip_scope: main` clips each of them by a norm of its own."""


def clipped_together(dump: Dump, model: Model) -> list[list[Tensor]]:
    """Parameters whose gradients are clipped by one norm: all of them, those of a group, or those that choose apart."""
    scope = dump.leaf(0, "train.clip_scope")
    choosers = CHOOSERS.get(dump.config["family"], set()) if scope == "main" else set()
    by_group: dict[str, list[Tensor]] = {}
    for (_, parameter), group in zip(model.named_parameters(), groups_of(dump, model).values(), strict=True):
        by_group.setdefault(group if scope == "group" or group in choosers else "", []).append(parameter)
    return list(by_group.values())


def optimizer_of(dump: Dump, model: Model, cell: int) -> torch.optim.Optimizer:
    """The cell's optimiser with the rates and decays of its parameter groups."""
    by_rates: dict[tuple[float, float], list[Tensor]] = {}
    for (_, parameter), group in zip(model.named_parameters(), groups_of(dump, model).values(), strict=True):
        by_rates.setdefault(dump.rates(cell, group), []).append(parameter)
    beta1, beta2, eps = (dump.per_cell(k)[cell] for k in ("beta1", "beta2", "eps"))
    return make_optimizer(by_rates, beta1, beta2, eps)


def make_optimizer(
    by_rates: dict[tuple[float, float], list[Tensor]], beta1: float, beta2: float, eps: float
) -> torch.optim.Optimizer:
    """Fused AdamW (Adam where the decay is 0: the same update) of the parameters of each rate and decay."""
    groups = [{"params": p, "lr": lr, "weight_decay": decay} for (lr, decay), p in by_rates.items()]
    return torch.optim.AdamW(groups, betas=(beta1, beta2), eps=eps, fused=True)


def make(dump: Dump, arguments: argparse.Namespace) -> runner.Trainer:
    use(arguments.threads, arguments.precision)
    return CellLoop(dump, arguments.precision, device=arguments.device, **scan_of(dump, arguments))


def add_scan(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The option of the state-space layer's algorithm."""
    parser.add_argument("--scan", choices=SCANS, default="blocks", help="algorithm of state-space layers")
    return parser


def scan_of(dump: Dump, arguments: argparse.Namespace) -> dict[str, str]:
    """Options of make_models()."""
    return {"scan": arguments.scan} if dump.family == "time_indexed" else {}


if __name__ == "__main__":
    runner.main("torch eager", add_scan(runner.parser(__doc__)).parse_args(), make)
