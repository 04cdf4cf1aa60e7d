"""Makespan of a small sweep in PyTorch: from cold start to the losses of all 24 cells on disk.

The sweep of `bench/makespan.yaml`: h_mod 32, 64, 128 × rate × decay × Δt (2 each) of a time-indexed
transformer, d = 64, H = 4, L = 6, T = 64, B = 8, 100 steps, no evaluation, windows of a text as char256.
`--mode processes` starts a process per cell, as sweep launchers do, `--workers` at a time; `--mode loops`
starts `--workers` processes once, each looping over its share. One thread per process, one process per core.
The launcher itself imports no framework.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

STEPS, LAYERS, THREADS = 100, 6, 1
STRUCTURE = {
    "family": "time_indexed", "d_model": 64, "n_heads": 4, "n_layers": LAYERS, "d_ff": 256, "seq_len": 64,
    "batch_size": 8, "vocab_size": 256, "frequencies": 32, "include_t": True,
}  # fmt: skip
CELLS = list(itertools.product((32, 64, 128), (1e-3, 3e-4), (0.0, 0.01), (1.0, 1.0 / LAYERS)))


def train_cells(cells: list[int], text: Path, out: Path) -> None:
    """Trains cells one after another and writes each one's losses."""
    import torch

    torch.set_num_threads(THREADS)
    tokens = read_char256(text)
    for cell in cells:
        losses = train_cell(cell, tokens)
        aside = out / f".cell-{cell:02}.json"
        aside.write_text(json.dumps({"cell": cell, "settings": CELLS[cell], "train_loss": losses}))
        aside.rename(out / f"cell-{cell:02}.json")


def read_char256(text: Path) -> Any:
    """The first 96 % of a text as ids min(code point, 255)."""
    import numpy as np
    import torch

    codes = np.frombuffer(text.read_text(encoding="utf-8").encode("utf-32-le"), np.uint32)
    return torch.from_numpy(np.minimum(codes[: len(codes) * 96 // 100], 255).astype(np.uint8))


def train_cell(cell: int, tokens: Any) -> list[float]:
    """The ordinary training loop of one cell: eager, fused AdamW, clip 1."""
    import torch

    from dump import DEFAULT_NO_DECAY, group_of
    from torch_eager import make_optimizer
    from torch_model import TimeIndexed

    hidden, lr, decay, dt = CELLS[cell]
    torch.manual_seed(0)
    model = TimeIndexed({**STRUCTURE, "modulation_hidden": hidden})
    for name, p in model.named_parameters():
        if p.dim() > 1:
            residual = name.endswith(("out.weight", "down.weight")) and name.startswith("blocks")
            torch.nn.init.normal_(p, std=0.02 / (2 * LAYERS) ** 0.5 if residual else 0.02)
        elif name.endswith("bias"):
            torch.nn.init.zeros_(p)
    by_rates: dict[tuple[float, float], list[Any]] = {(lr, decay): [], (lr, 0.0): []}
    for n, p in model.named_parameters():
        by_rates[lr, 0.0 if group_of(n) in DEFAULT_NO_DECAY else decay].append(p)
    optimizer = make_optimizer(by_rates, 0.9, 0.999, 1e-8)
    parameters = list(model.parameters())
    length, batch = STRUCTURE["seq_len"], STRUCTURE["batch_size"]
    assert isinstance(length, int) and isinstance(batch, int)
    starts = torch.randint(len(tokens) - length, (STEPS, batch, 1), generator=torch.Generator().manual_seed(0))
    offsets = torch.arange(length + 1)
    losses = []
    for step in range(STEPS):
        window = tokens[starts[step] + offsets].long()
        optimizer.zero_grad(set_to_none=True)
        loss = model(window[:, :-1], window[:, 1:], dt)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).tolist()


def launch(mode: str, workers: int, text: Path, out: Path) -> None:
    """Runs all cells in child processes, `workers` at a time, each on its own core."""
    everything = list(range(len(CELLS)))
    jobs = [[c] for c in everything] if mode == "processes" else [everything[i::workers] for i in range(workers)]
    cores = sorted(os.sched_getaffinity(0))[:workers]
    running: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}  # by process id
    while jobs or running:
        free = [c for c in cores if c not in {core for core, _ in running.values()}]
        if jobs and free:
            cells = ",".join(map(str, jobs.pop(0)))
            command = ["taskset", "-c", str(free[0]), sys.executable, __file__, "--mode", mode, "--cells", cells]
            child = subprocess.Popen([*command, "--text", str(text), "--out", str(out)])
            running[child.pid] = (free[0], child)
            continue
        pid, status = os.wait()
        running.pop(pid)
        if status:
            raise SystemExit(f"a training process ended with status {os.waitstatus_to_exitcode(status)}")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mode", choices=("processes", "loops"), required=True)
    p.add_argument("--workers", type=int, default=2, help="processes at a time, one per core")
    p.add_argument("--text", type=Path, required=True, help="UTF-8 text to train on")
    p.add_argument("--out", type=Path, required=True, help="folder for the losses")
    p.add_argument("--json", type=Path, help="result file (default: standard output)")
    p.add_argument("--cells", help=argparse.SUPPRESS)  # train these here, instead of launching
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    if a.cells:
        train_cells([int(c) for c in a.cells.split(",")], a.text, a.out)
        return
    start = time.perf_counter()
    launch(a.mode, a.workers, a.text, a.out)
    seconds = time.perf_counter() - start
    final = [json.loads((a.out / f"cell-{c:02}.json").read_text())["train_loss"] for c in range(len(CELLS))]
    late = sum(sum(x[-50:]) / 50 for x in final) / len(final)
    text = json.dumps({"name": f"torch {a.mode}", "seconds": seconds, "train_loss_last50": late})
    if a.json:
        a.json.write_text(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
