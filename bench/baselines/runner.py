"""The measuring loop that all step baselines share.

A baseline offers a `Trainer`; the runner trains the first 20 steps (their losses are the proof of
equal mathematics and the warm-up), then times rounds of N steps: wall time from before the first
step to after the last one's results exist, over cells and steps. With `--processes P` the cells are
split over P copies of the script, each pinned to one core with one thread; a round then lasts
until the slowest copy is done.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from dump import LOSS_STEPS, Dump, load_dump


class Trainer(Protocol):
    """Trains all cells of a dump; keeps its state between calls."""

    def train(self, first: int, steps: int) -> np.ndarray:
        """Steps [first, first + steps), batches cycling; returns losses (steps, E) when all is done."""
        ...


def base_parser(description: str | None) -> argparse.ArgumentParser:
    """The options of every timed script."""
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--steps", type=int, default=20, help="steps of a timed round")
    p.add_argument("--rounds", type=int, default=5, help="timed rounds")
    p.add_argument("--threads", type=int, default=1, help="threads of a process")
    p.add_argument("--json", type=Path, help="result file (default: standard output)")
    p.add_argument("--serve", action="store_true", help="time a round of so many steps for each line of standard input")
    return p


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options of every step baseline."""
    p = base_parser(description)
    p.add_argument("--dump", type=Path, required=True, help="folder written by `depthgrid bench step --dump`")
    p.add_argument("--processes", type=int, default=1, help="processes that share the cells, one per core")
    p.add_argument("--precision", choices=("fp32", "tf32", "bf16"), default="fp32", help="tf32: on a GPU")
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    p.add_argument("--cells", help=argparse.SUPPRESS)  # "a:b", a share of the cells
    p.add_argument("--cpu", type=int, help=argparse.SUPPRESS)  # core to stay on
    return p


def limit_cores(threads: int, cpu: int | None) -> None:
    """Stays on as many cores as there are threads (frameworks size their pools by the affinity mask)."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpu} if cpu is not None else set(allowed[:threads]))


class Local:
    """Rounds of one trainer in this process."""

    def __init__(self, trainer: Trainer, cells: int) -> None:
        self.losses = trainer.train(0, LOSS_STEPS).tolist()
        self._trainer, self._cells, self._step = trainer, cells, LOSS_STEPS
        self.round(2)  # the first calls after a change of length may still allocate

    def round(self, steps: int) -> float:
        """Milliseconds per cell-step."""
        start = time.perf_counter()
        self._trainer.train(self._step, steps)
        elapsed = time.perf_counter() - start
        self._step += steps
        return 1e3 * elapsed / (steps * self._cells)


class Server:
    """A baseline in another process that times a round when told to."""

    def __init__(self, command: list[str], env: dict[str, str] | None = None, log: IO[bytes] | None = None) -> None:
        self._command = command
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=env, text=True
        )

    def wait_ready(self) -> list[list[float]]:
        """The losses of the first steps, (step, cell)."""
        answer = self._answer()
        self.losses: list[list[float]] = answer["losses"]
        self.ready_at: float = answer["ready_at"]
        return self.losses

    def start_round(self, steps: int) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()

    def finish_round(self) -> float:
        return float(self._answer()["ms_per_cell_step"])

    def round(self, steps: int) -> float:
        self.start_round(steps)
        return self.finish_round()

    def kill(self) -> None:
        """Without waiting for what it does."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"ended without an answer (exit {self._process.wait()}): {' '.join(self._command)}")
        return dict(json.loads(line))


class Split:
    """Rounds of several processes side by side, each with its share of the cells."""

    def __init__(self, arguments: argparse.Namespace, cells: int) -> None:
        cores = sorted(os.sched_getaffinity(0))
        bounds = [cells * i // arguments.processes for i in range(arguments.processes + 1)]
        shares = [(a, b) for a, b in zip(bounds, bounds[1:], strict=False) if a < b]
        script = [a for a in sys.argv if a != "--serve"]
        self._servers = [
            Server(
                [sys.executable, *script, "--serve", "--processes", "1", "--threads", "1"]
                + ["--cells", f"{a}:{b}", "--cpu", str(cores[i % len(cores)])]
            )
            for i, (a, b) in enumerate(shares)
        ]
        parts = [server.wait_ready() for server in self._servers]
        self.losses = [[x for part in step for x in part] for step in zip(*parts, strict=True)]
        self._cells = cells

    def round(self, steps: int) -> float:
        start = time.perf_counter()
        for server in self._servers:
            server.start_round(steps)
        for server in self._servers:
            server.finish_round()
        return 1e3 * (time.perf_counter() - start) / (steps * self._cells)


class Work(Protocol):
    """Something whose rounds can be timed."""

    losses: list[list[float]]

    def round(self, steps: int) -> float:
        """Milliseconds per cell-step."""
        ...


def report(name: str, work: Work, arguments: argparse.Namespace) -> None:
    """Times rounds: all of them at once, or (`--serve`) one for each line of standard input."""
    if arguments.serve:
        print(json.dumps({"name": name, "losses": work.losses, "ready_at": time.time()}), flush=True)
        for line in sys.stdin:
            print(json.dumps({"ms_per_cell_step": work.round(int(line))}), flush=True)
        return
    rounds = [work.round(arguments.steps) for _ in range(arguments.rounds)]
    text = json.dumps({"name": name, "ms_per_cell_step": rounds, "losses": work.losses}, indent=1)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    else:
        print(text)


def main(name: str, arguments: argparse.Namespace, make: Callable[[Dump, argparse.Namespace], Trainer]) -> None:
    """Runs a step baseline from its command line."""
    dump = load_dump(arguments.dump)
    if arguments.cells:
        first, last = map(int, arguments.cells.split(":"))
        dump = dump.take(first, last)
    if arguments.processes > 1:
        report(name, Split(arguments, dump.cells), arguments)
    else:
        if arguments.device == "cpu":
            limit_cores(arguments.threads, arguments.cpu)
        report(name, Local(make(dump, arguments), dump.cells), arguments)
