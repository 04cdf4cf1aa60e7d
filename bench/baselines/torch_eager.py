"""Step time of PyTorch eager, one cell after another (with `--processes 2`: one process per core).

What a careful user writes: fused q, k, v, SDPA, fused AdamW, foreach clipping, gradients set to none,
no host synchronisation inside the loop; bf16 by autocast.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

import runner
from dump import Dump
from torch_model import Model, batches, make_models

LossFn = Callable[[Model, Tensor, Tensor, float | Tensor], Tensor]


def loss_of(model: Model, inputs: Tensor, targets: Tensor, dt: float | Tensor) -> Tensor:
    return model(inputs, targets, dt)


class CellLoop:
    """Trains the cells of a dump one after another with stock optimisers."""

    def __init__(self, dump: Dump, precision: str, loss: LossFn = loss_of, *, tensor_dt: bool = False) -> None:
        self._models, decayed = make_models(dump)
        self._inputs, self._targets = batches(dump)
        self._loss, self._bf16 = loss, precision == "bf16"
        self._clip = dump.per_cell("clip")
        scales = dump.per_cell("residual_scale")
        self._dt: list[float | Tensor] = [torch.tensor(s) if tensor_dt else s for s in scales]
        columns = [dump.per_cell(k) for k in ("lr", "weight_decay", "beta1", "beta2", "eps")]
        self._optimizers = [
            make_optimizer(model, decayed, *(column[i] for column in columns)) for i, model in enumerate(self._models)
        ]

    def train(self, first: int, steps: int) -> np.ndarray:
        losses = [self._train_cell(cell, first, steps) for cell in range(len(self._models))]
        return torch.stack(losses, dim=1).numpy()

    def _train_cell(self, cell: int, first: int, steps: int) -> Tensor:
        model, optimizer = self._models[cell], self._optimizers[cell]
        parameters = list(model.parameters())
        losses = []
        for step in range(first, first + steps):
            batch = step % len(self._inputs)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=self._bf16):
                loss = self._loss(model, self._inputs[batch, cell], self._targets[batch, cell], self._dt[cell])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, self._clip[cell], foreach=True)
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses)


def make_optimizer(
    model: torch.nn.Module, decayed: set[str], lr: float, decay: float, beta1: float, beta2: float, eps: float
) -> torch.optim.Optimizer:
    """Fused AdamW (Adam where the decay is 0: the same update)."""
    named = dict(model.named_parameters())
    groups = [
        {"params": [p for k, p in named.items() if k in decayed], "weight_decay": decay},
        {"params": [p for k, p in named.items() if k not in decayed], "weight_decay": 0.0},
    ]
    groups = [g for g in groups if g["params"]]
    return torch.optim.AdamW(groups, lr=lr, betas=(beta1, beta2), eps=eps, fused=True)


def make(dump: Dump, arguments: argparse.Namespace) -> runner.Trainer:
    torch.set_num_threads(arguments.threads)
    return CellLoop(dump, arguments.precision)


if __name__ == "__main__":
    runner.main("torch eager", runner.parser(__doc__).parse_args(), make)
