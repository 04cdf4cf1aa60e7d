"""Time of optimiser + clip alone, per cell, on E cells of P parameters each.

PyTorch's best case: one flat tensor per cell (or `--tensors N` equal ones), `clip_grad_norm_` and the fused
AdamW kernel per cell, each cell with its own rate. `--roof` instead gives the bound set by the memory: the time to
move the update's 32 bytes per parameter (gradient twice; parameter and two moments read and written) at the
best rate measured for in-place scaling and in-place addition of arrays of the same size.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

import runner

BYTES_PER_PARAMETER = 32


class FusedAdamW:
    """clip_grad_norm_ + fused AdamW, one cell after another."""

    def __init__(self, cells: int, parameters: int, tensors: int) -> None:
        torch.manual_seed(0)
        self.losses: list[list[float]] = []
        self._cells = [
            [torch.randn(parameters // tensors).requires_grad_() for _ in range(tensors)] for _ in range(cells)
        ]
        for p in (p for cell in self._cells for p in cell):
            p.grad = torch.randn_like(p)
        self._optimizers = [
            torch.optim.AdamW(cell, lr=1e-4 * (i + 1), weight_decay=0.01, fused=True)
            for i, cell in enumerate(self._cells)
        ]
        self.round(3)

    def round(self, steps: int) -> float:
        start = time.perf_counter()
        for _ in range(steps):
            for cell, optimizer in zip(self._cells, self._optimizers, strict=True):
                torch.nn.utils.clip_grad_norm_(cell, 1.0, foreach=True)
                optimizer.step()
        return 1e3 * (time.perf_counter() - start) / (steps * len(self._cells))


class Roof:
    """Time to move the same bytes at the machine's best streaming rate."""

    def __init__(self, cells: int, parameters: int) -> None:
        self.losses: list[list[float]] = []
        self._bytes = BYTES_PER_PARAMETER * parameters
        self._a, self._b = torch.ones(2 * cells * parameters), torch.ones(2 * cells * parameters)
        self.round(3)

    def round(self, steps: int) -> float:
        n = self._a.numel()
        streams: list[tuple[int, Callable[[], Tensor]]] = [
            (8 * n, lambda: self._a.mul_(0.999)),
            (12 * n, lambda: self._a.add_(self._b)),
        ]
        best = 0.0
        for _ in range(max(3, steps // 2)):
            for size, stream in streams:
                start = time.perf_counter()
                stream()
                best = max(best, size / (time.perf_counter() - start))
        return 1e3 * self._bytes / best


def main() -> None:
    p = runner.base_parser(__doc__)
    p.add_argument("--cells", type=int, default=1)
    p.add_argument("--parameters", type=int, default=4_902_912, help="of a cell; the default is the study's GPT")
    p.add_argument("--tensors", type=int, default=1, help="tensors that a cell's parameters are split into")
    p.add_argument("--roof", action="store_true", help="the memory's time instead of the optimiser's")
    a: argparse.Namespace = p.parse_args()
    runner.limit_cores(a.threads, None)
    torch.set_num_threads(a.threads)
    if a.roof:
        runner.report("memory roof", Roof(a.cells, a.parameters), a)
    else:
        runner.report("torch fused AdamW + clip", FusedAdamW(a.cells, a.parameters, a.tensors), a)


if __name__ == "__main__":
    main()
