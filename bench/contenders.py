"""The programs compared: baselines running as servers, and depthgrid itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

BASELINES = Path(__file__).parent / "baselines"
sys.path.insert(0, str(BASELINES))

from runner import Server  # noqa: E402

# By default glibc returns large blocks to the kernel at each step; depthgrid turns that off, so the baselines
# do too (1-3 % of a step).
TUNED_MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}


@dataclass(frozen=True)
class Case:
    """One structure, precision and number of cells; `cores` is what every contender may use."""

    name: str
    family: str
    cells: int
    sizes: dict[str, Any]  # leaves that all cells share
    precision: str
    cores: int
    steps: int
    rivals: tuple[tuple[str, ...], ...]  # script and options
    factors: dict[str, str] = field(default_factory=dict)  # leaves whose values the cells differ in
    device: str = "cpu"

    @property
    def tolerance(self) -> float:
        """Largest relative difference of a loss at which two programs count as equal."""
        return {"fp32": 1e-4, "tf32": 2e-3, "bf16": 1e-2}[self.precision]


class Contender(Protocol):
    """A program whose rounds are timed."""

    @property
    def name(self) -> str: ...

    def round(self, steps: int) -> float:
        """Milliseconds per cell-step over the given number of steps."""
        ...

    def close(self) -> None: ...


@dataclass
class Baseline:
    """A script of baselines/ in server mode."""

    name: str
    arguments: Sequence[str]
    log: Path  # of its standard error
    losses: list[list[float]] = field(default_factory=list)
    difference: float = 0.0  # of its losses from depthgrid's, relative
    ready_seconds: float = 0.0  # until the first steps were trained: start, compilation and these steps
    _server: Server | None = None

    def launch(self) -> None:
        """Starts the script."""
        script, *options = self.arguments
        self._began = time.time()
        with self.log.open("ab") as errors:
            command = [sys.executable, str(BASELINES / script), *options, "--serve"]
            self._server = Server(command, env={**os.environ, **TUNED_MALLOC}, log=errors)

    def wait(self) -> None:
        """Until it has trained (and compiled) its first steps. @raises RuntimeError if it ends before."""
        self.losses = self.server.wait_ready()
        self.ready_seconds = self.server.ready_at - self._began

    def kill(self) -> None:
        """Without waiting for what it does, if it was launched."""
        if self._server:
            self._server.kill()

    def last_lines(self) -> str:
        return "\n".join(f"  | {line}" for line in self.log.read_text(errors="replace").splitlines()[-15:])

    @property
    def server(self) -> Server:
        assert self._server, f"{self.name} was not launched"
        return self._server

    def round(self, steps: int) -> float:
        return self.server.round(steps)

    def close(self) -> None:
        self.server.close()


def program_arguments(case: Case, cells: int, threads: int, steps: int) -> list[str]:
    """`depthgrid bench step` for a case."""
    leaves = {**case.sizes, "train.precision": case.precision, "resources.threads": threads, "train.optimizer": "adamw"}
    if cells == case.cells:  # a share of the cells differs in seeds only, which costs the same
        leaves |= case.factors
    sets = [x for key, value in leaves.items() for x in ("--set", f"{key}={value}")]
    words = ["--family", case.family, "--cells", str(cells), "--steps", str(steps), "--device", case.device]
    return ["bench", "step", *words, *sets, "--json"]


@dataclass
class Program:
    """depthgrid: `processes` of them side by side, each with its share of the cells and of the cores.

    `fused`: a process takes its cells as one job; else as jobs of one cell, as `packing.fuse: 1` has them.
    """

    program: Path
    case: Case
    processes: int = 1
    fused: bool = True

    @property
    def name(self) -> str:
        if not self.fused:
            return f"depthgrid, {self.processes} processes, cells one by one"
        cores = f"{self.case.cores} threads" if self.case.cores > 1 else "1 thread"
        return f"depthgrid, {self.processes} processes" if self.processes > 1 else f"depthgrid, {cores}"

    def dump(self, folder: Path) -> list[list[float]]:
        """Writes the problem; returns the program's own losses of the first steps, (step, cell and part)."""
        command = [str(self.program), *program_arguments(self.case, self.case.cells, self.case.cores, 1)]
        run_json([*command, "--dump", str(folder)])
        told = json.loads((folder / "losses.json").read_text())
        parts = [told["loss"], *told["parts"].values()]
        return [[x for cell in zip(*step, strict=True) for x in cell] for step in zip(*parts, strict=True)]

    def round(self, steps: int) -> float:
        case, n = self.case, self.processes
        if case.device != "cpu":
            return milliseconds(run_json([str(self.program), *program_arguments(case, case.cells, 1, steps)]))
        shares = [case.cells * (i + 1) // n - case.cells * i // n for i in range(n)]
        cores = sorted(os.sched_getaffinity(0))[: case.cores]
        started = []
        for i, share in enumerate(shares):
            own = cores[i * len(cores) // n : (i + 1) * len(cores) // n]
            at_once, rounds = (share, steps) if self.fused else (1, steps * share)
            command = [str(self.program), *program_arguments(case, at_once, len(own), rounds)]
            pinned = ["taskset", "-c", ",".join(map(str, own)), *command]
            started.append(subprocess.Popen(pinned, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        answers = [child.communicate()[0] for child in started]
        if any(child.returncode for child in started):
            raise SystemExit(f"failed: {' '.join(str(x) for x in started[0].args)}")  # type: ignore[union-attr]
        slowest = max(milliseconds(json.loads(a)) * share for a, share in zip(answers, shares, strict=True))
        return slowest / case.cells

    def close(self) -> None:
        """Nothing runs between rounds."""


@dataclass
class OneShot:
    """A command that prints its own time per cell-step; called once a round with `--steps N` added."""

    name: str
    command: Sequence[str]

    def round(self, steps: int) -> float:
        return milliseconds(run_json([*self.command, "--steps", str(steps)]))

    def close(self) -> None:
        """Nothing runs between rounds."""


def milliseconds(answer: dict[str, Any]) -> float:
    """Mean over the steps of a round, which is what the baselines report too; a median would hide slow steps."""
    if "ms_mean" not in answer:
        raise SystemExit(f"`depthgrid bench` printed no ms_mean: {answer}")
    return float(answer["ms_mean"])


def run_json(command: Sequence[str]) -> dict[str, Any]:
    """Runs a command that prints JSON on standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"failed ({done.returncode}): {' '.join(command)}\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))
