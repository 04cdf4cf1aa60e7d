"""Compares depthgrid's speed with PyTorch's and JAX's on the same problems; see bench/README.md.

    .bench/bin/python bench/compare.py d256 small families optimiser makespan --out build/bench

Every contender starts from depthgrid's weights and batches and must reproduce its losses over the first
20 steps, else no times are reported. Rounds of all contenders are interleaved in rotating order.
Writes results.json and performance.md into the folder.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import machine
import report
from contenders import BASELINES, Baseline, Case, Contender, OneShot, Program, run_json
from suites import STEP_SUITES, gpu_cases

HERE = Path(__file__).parent
GPT_PARAMETERS = 4_902_912
SMALL_PARAMETERS = 336_000
PROBES = ("trajectory", "gates", "gradients", "logit_lens", "attention", "weights")
WITHOUT_PROBES = [x for probe in PROBES for x in ("--set", f"probes.{probe}.schedule=off")]
"""Makespan: the others measure nothing beside the loss."""
MEAN_LOSS_TOLERANCE = 0.05
"""Makespan: each side draws its own random numbers, so mean losses over all cells agree only roughly."""


def interleave(contenders: Sequence[Contender], rounds: int, steps: int) -> dict[str, list[float]]:
    """Interleaved rounds of all contenders; the first one rotates."""
    times: dict[str, list[float]] = {c.name: [] for c in contenders}
    for number in range(rounds):
        first = number % len(contenders)
        for contender in [*contenders[first:], *contenders[:first]]:
            times[contender.name].append(contender.round(steps))
        print("  round", number + 1, {k: round(v[-1], 3) for k, v in times.items()}, file=sys.stderr)
    return times


def loss_difference(a: list[list[float]], b: list[list[float]]) -> float:
    """Largest relative difference of losses (step, cell)."""
    if [len(x) for x in a] != [len(x) for x in b]:
        raise RuntimeError("the programs report losses of different numbers of steps, cells or parts")
    return max(abs(x - y) / abs(y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


def start_rivals(
    case: Case, folder: Path, wanted: str, losses: list[list[float]]
) -> tuple[list[Baseline], dict[str, str]]:
    """Starts them, side by side on a GPU, whose host has more cores than they take, and compares their losses.

    On the CPU a rival that differs ends everything; on a GPU, which is lent for minutes, only its own row.
    Returns those that are ready, and by name why others are not.
    """
    ready: list[Baseline] = []
    refused: dict[str, str] = {}
    planned: list[Baseline] = []
    for script, *more in case.rivals:
        threads = "1" if "--processes" in more else str(case.cores)
        arguments = [script, *more, "--dump", str(folder / "dump"), "--threads", threads]
        label = " ".join([script.removesuffix(".py"), *more]).replace("--", "")
        if wanted and label not in wanted.split(","):
            continue
        if script == "jax_jit.py" and importlib.util.find_spec("jax") is None:
            refused[label] = "there is no JAX"
            continue
        log = folder / f"{label.replace(' ', '-')}.log"
        planned.append(Baseline(label, [*arguments, "--precision", case.precision, "--device", case.device], log))
    one_by_one = case.device == "cpu"
    try:
        if not one_by_one:
            for rival in planned:
                rival.launch()
        for rival in planned:
            print(f"  starting {rival.name}", file=sys.stderr)
            if one_by_one:
                rival.launch()
            try:
                rival.wait()
                rival.difference = loss_difference(rival.losses, losses)
                if not rival.difference <= case.tolerance:
                    raise RuntimeError(
                        f"losses differ from depthgrid's by {rival.difference:.1e}, more than {case.tolerance:.0e}: "
                        f"not the same mathematics, nothing is reported ({folder})"
                    )
            except RuntimeError as error:
                told = f"{rival.name}: {error}\n{rival.last_lines()}"
                if one_by_one:
                    raise SystemExit(f"{case.name}: {told}") from error
                print(f"  {told}", file=sys.stderr)
                refused[rival.name] = str(error).splitlines()[0]
                rival.kill()
                continue
            ready.append(rival)
    except BaseException:
        for rival in planned:
            rival.kill()
        raise
    return ready, refused


def run_case(case: Case, options: argparse.Namespace) -> list[report.Row]:
    """Dump, proof of equal losses, interleaved rounds."""
    folder = options.out / case.name.replace(", ", "-").replace("=", "").replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ways = [1, case.cores] if case.cores > 1 and case.cells >= case.cores else [1]
    ours = [Program(options.program, case, n) for n in ways]
    if ways[-1] > 1:
        ours.append(Program(options.program, case, ways[-1], fused=False))
    rivals, refused = start_rivals(case, folder, options.rivals, ours[0].dump(folder / "dump"))
    try:
        machine.require_quiet(force=options.force)
        everybody: list[Contender] = [*ours, *rivals]
        times = interleave(everybody, options.rounds, case.steps)
    finally:
        for rival in rivals:
            rival.close()
    ready = {rival.name: rival.ready_seconds for rival in rivals}
    table = report.rows(times, [p.name for p in ours], {r.name: r.difference for r in rivals}, ready)
    return [*table, *(report.Row(name, [], [], None, refused=why) for name, why in refused.items())]


def run_optimiser(options: argparse.Namespace, cells: int, parameters: int) -> list[report.Row]:
    """Optimiser and clip alone, against PyTorch's fused kernel and the memory bandwidth."""
    machine.require_quiet(force=options.force)
    sizes = ["--cells", str(cells), "--parameters", str(parameters)]
    threads = ["--set", f"resources.threads={options.cores}"]
    ours: Contender = OneShot("depthgrid", [str(options.program), "bench", "optimiser", *sizes, *threads, "--json"])
    with_threads = [*sizes, "--threads", str(options.cores)]
    rivals = [
        Baseline(name, ["fused_adamw.py", *with_threads, *more], options.out / "optimiser.log")
        for name, more in (
            ("torch fused AdamW + clip", []),
            ("torch, 78 tensors a cell", ["--tensors", "78"]),
            ("memory roof (32 B a parameter)", ["--roof"]),
        )
    ]
    for rival in rivals:
        rival.launch()
        rival.wait()
    try:
        times = interleave([ours, *rivals], options.rounds, 20)
    finally:
        for rival in rivals:
            rival.close()
    return report.rows(times, [ours.name], {})


def run_makespan(options: argparse.Namespace) -> list[report.Row]:
    """Wall time from the start of the command until results are on disk; all but the page cache is cold."""
    machine.require_quiet(force=options.force)
    root = options.out / "makespan"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    text = bench_text(root, options.text)
    results: dict[str, float] = {}

    def torch(mode: str, folder: Path) -> None:
        script = [sys.executable, str(BASELINES / "makespan.py"), "--mode", mode, "--workers", str(options.cores)]
        results[f"torch, {mode}"] = run_json([*script, "--text", str(text), "--out", str(folder)])["train_loss_last50"]

    def ours(folder: Path, *more: str) -> None:
        command = ["mpirun", "-np", str(options.cores), "--bind-to", "core", "--map-by", "core"] * (options.cores > 1)
        command += [str(options.program), "run", str(HERE / "makespan.yaml"), "--store", str(folder)]
        root_user = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        env = {**os.environ, "XDG_CACHE_HOME": str(folder) + "-cache", **(root_user if os.geteuid() == 0 else {})}
        command += ["--set", f"data.path={text}", "-q", *more]
        done = subprocess.run(command, env=env, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"failed: {' '.join(command)}\n{done.stderr.decode(errors='replace')[-2000:]}")

    ways: dict[str, Callable[[Path], None]] = {
        "depthgrid": lambda folder: ours(folder, *WITHOUT_PROBES),
        "depthgrid, with its probes": ours,
        "torch, loops": lambda folder: torch("loops", folder),
        "torch, processes": lambda folder: torch("processes", folder),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    order = list(ways)
    for number in range(options.rounds):
        for name in order[number % len(order) :] + order[: number % len(order)]:
            folder = root / f"{name.replace(', ', '-')}-{number}"
            start = time.perf_counter()
            ways[name](folder)
            times[name].append(time.perf_counter() - start)
        print("  round", number + 1, {k: round(v[-1], 2) for k, v in times.items()}, file=sys.stderr)
    cells = run_json([str(options.program), "results", str(root / "depthgrid-0"), "--json"])["cells"]
    mine = statistics.mean(cell["metrics"]["train_loss_last50"] for cell in cells)
    differences = {name: abs(loss - mine) / mine for name, loss in results.items()}
    if len(cells) != 24 or any(not x <= MEAN_LOSS_TOLERANCE for x in differences.values()):
        raise SystemExit(f"makespan: {len(cells)} cells, mean losses differ by {differences}: not the same work")
    return report.rows(times, ["depthgrid"], differences)


def bench_text(folder: Path, wanted: Path | None) -> Path:
    """The text to train on: the given one, else the first megabytes of repeated documentation."""
    if wanted:
        return wanted.resolve()
    parts = [p.read_text(errors="replace") for p in sorted((HERE.parent).glob("**/*.md")) if ".venv" not in p.parts]
    whole = "".join(parts)
    path = folder / "text.txt"
    path.write_text((whole * (1 + 4_000_000 // max(1, len(whole))))[:4_000_000])
    return path.resolve()


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("suites", nargs="+", choices=(*STEP_SUITES, "optimiser", "makespan", "gpu"))
    p.add_argument("--program", type=Path, default=HERE.parent / "build/release/depthgrid")
    p.add_argument("--out", type=Path, default=HERE.parent / "build/bench")
    p.add_argument("--rounds", type=int, default=5, help="at least 5 for a figure that is published")
    p.add_argument("--cores", type=int, help="cores that each contender may use (default: see bench/README.md)")
    p.add_argument("--only", default="", help="cases whose name contains this")
    p.add_argument("--rivals", default="", help="only these, by their names in the table, with commas between")
    p.add_argument("--text", type=Path, help="text of the makespan (default: this repository's documentation)")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="of the suite gpu; cpu: a rehearsal")
    p.add_argument("--isa", choices=machine.ISA_LIMITS, help="hold depthgrid and its rivals to this instruction set")
    p.add_argument("--force", action="store_true", help="measure on a busy machine too")
    options = p.parse_args()
    options.program, options.out = options.program.resolve(), options.out.resolve()
    machine.limit(options.isa, options.out)
    if not options.program.exists():
        raise SystemExit(f"{options.program} is not there: build it (scripts/build.sh) or name it with --program")
    options.out.mkdir(parents=True, exist_ok=True)
    machine.require_quiet(force=options.force)
    facts = machine.describe(options.program)
    sections, cases = [report.machine_line(facts)], []

    def add(title: str, unit: str, table: list[report.Row]) -> None:
        sections.append(report.markdown(title, unit, table))
        cases.append(report.as_json(title, unit, table))
        print(sections[-1])
        write(options.out, facts, cases, sections)  # keeps the results so far if a later case is refused

    wanted = options.cores
    for suite in options.suites:
        if suite in STEP_SUITES or suite == "gpu":
            for case in gpu_cases(options.device) if suite == "gpu" else STEP_SUITES[suite](wanted):
                if options.only in case.name:
                    print(case.name, file=sys.stderr)
                    where = cores_words(case.cores) if case.device == "cpu" else "one GPU"
                    add(f"{case.name}, {where}", "ms per cell-step", run_case(case, options))
            continue
        options.cores = wanted or (1 if suite == "optimiser" else 2)
        where = cores_words(options.cores)
        if suite == "optimiser":
            for cells, parameters in ((1, GPT_PARAMETERS), (16, SMALL_PARAMETERS), (16, GPT_PARAMETERS)):
                title = f"optimiser and clip, E={cells}, {parameters} parameters a cell, {where}"
                add(title, "ms per cell", run_optimiser(options, cells, parameters))
        else:
            add(f"makespan of 24 cells, {where}", "s", run_makespan(options))


def cores_words(cores: int) -> str:
    return f"{cores} core{'s' * (cores > 1)}"


def write(out: Path, facts: dict[str, Any], cases: list[dict[str, Any]], sections: list[str]) -> None:
    (out / "results.json").write_text(json.dumps({"schema": 1, "machine": facts, "cases": cases}, indent=1) + "\n")
    (out / "performance.md").write_text("\n".join(sections))


if __name__ == "__main__":
    main()
