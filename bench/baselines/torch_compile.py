"""Step time of PyTorch with torch.compile (forward, loss and backward), one cell after another.

One compiled function serves all cells: Δt enters as a tensor, so that it is not a constant of the code.
The optimiser is the fused AdamW kernel, which compilation does not improve.
"""

from __future__ import annotations

import argparse

import torch
from torch._inductor import config as inductor

import runner
from dump import Dump
from torch_eager import CellLoop, add_scan, loss_of, scan_of
from torch_model import use


def use_compiler(arguments: argparse.Namespace) -> None:
    """Threads also for compiled loops, whose code has the number in it and is kept from run to run.

    Unless it is set, code that was compiled for two threads serves a process on one core, where they spin.
    """
    use(arguments.threads, arguments.precision)
    inductor.cpp.threads = arguments.threads


def compiled_loop(dump: Dump, precision: str, mode: str = "default", **options: str) -> CellLoop:
    """The loop over cells with a compiled loss function."""
    compiled = torch.compile(loss_of, mode=None if mode == "default" else mode, dynamic=False)
    return CellLoop(dump, precision, compiled, tensor_dt=True, **options)


def make(dump: Dump, arguments: argparse.Namespace) -> runner.Trainer:
    use_compiler(arguments)
    return compiled_loop(
        dump, arguments.precision, arguments.mode, device=arguments.device, **scan_of(dump, arguments)
    )


if __name__ == "__main__":
    options = add_scan(runner.parser(__doc__))
    options.add_argument("--mode", default="default", help="mode of torch.compile; reduce-overhead: CUDA graphs")
    runner.main("torch.compile", options.parse_args(), make)
