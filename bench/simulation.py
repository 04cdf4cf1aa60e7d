"""Compares the makespan that `plan --simulate` predicts with real runs on this machine.

    python3 bench/simulation.py --rounds 3 --out build/bench/simulation

The sweep is that of makespan.yaml on text of this repository, with packing.fuse off and steps enough that a run takes
about a minute. Each round trains it with one rank and with two. The run with one rank calibrates: its jobs' own times
give the speed of this machine in units of the planner's (`--speed`), what is left of it is the time to start and to
end. The simulation of two devices with these figures is then compared with the run of two ranks, which it has not seen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import machine

HERE = Path(__file__).resolve().parent


def environment() -> dict[str, str]:
    """One thread per rank; a container's root may start ranks."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def without_audits(depthgrid: Path) -> list[str]:
    """Options that turn off every check of the audit."""
    schema = subprocess.run([depthgrid, "schema", "--markdown"], capture_output=True, text=True, check=True).stdout
    return [w for leaf in re.findall(r"^\| `(audit\.[a-z_]*)`", schema, re.M) for w in ("--set", leaf + "=off")]


def train(options: argparse.Namespace, settings: list[str], ranks: int, store: Path) -> tuple[float, float]:
    """Seconds of the whole run, and those of its jobs together."""
    shutil.rmtree(store, ignore_errors=True)
    launcher = ["mpirun", "-q", "-np", str(ranks)] if ranks > 1 else []
    command = [*launcher, str(options.program), "run", str(HERE / "makespan.yaml"), *settings]
    command += ["--store", str(store), "--json-progress"]
    begin = time.monotonic()
    run = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    wall = time.monotonic() - begin
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}:\n{run.stderr[-2000:]}")
    jobs = 0.0
    for line in run.stderr.splitlines():
        if not line.startswith("{"):
            continue
        event = json.loads(line)
        if event.get("event") == "job_end":
            jobs += event["seconds"]
    return wall, jobs


def planned(options: argparse.Namespace, settings: list[str], *words: str) -> dict[str, Any]:
    """What `plan --json` says."""
    command = [str(options.program), "plan", str(HERE / "makespan.yaml"), *settings, "--json", *words]
    answer = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def one_round(options: argparse.Namespace, settings: list[str]) -> dict[str, float]:
    """Calibrates with one rank, predicts two, runs two."""
    store = options.out / "store"
    nothing = str(options.out / "none")
    alone, jobs = train(options, settings, 1, store)
    predicted = planned(options, settings, "--store", nothing)
    if predicted["predicted_seconds"] is None:
        raise SystemExit("the planner knows no times: is depthgrid-worker beside depthgrid?")
    speed = predicted["predicted_seconds"] / jobs
    simulated = planned(
        options, settings, "--store", nothing, "--simulate", "1x2", "--launch", "0", "--speed", repr(speed)
    )["simulation"][0]["makespan_seconds"]["mean"]
    start = alone - jobs
    two, _ = train(options, settings, 2, store)
    return {
        "one_rank": alone,
        "jobs": jobs,
        "start": start,
        "speed": speed,
        "uncalibrated": planned(options, settings, "--store", nothing, "--teams", "2")["predicted_seconds"] + start,
        "predicted": start + simulated,
        "measured": two,
        "error": (start + simulated) / two - 1,
    }


def main() -> None:
    """See the text above."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", type=Path, default=HERE.parent / "build" / "release" / "depthgrid")
    p.add_argument("--out", type=Path, default=HERE.parent / "build" / "bench" / "simulation")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=200)
    p.add_argument("--set", action="append", default=[], help="further leaves, as KEY=VALUE")
    p.add_argument("--force", action="store_true", help="measure even if the machine is busy")
    options = p.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    text = options.out / "text.txt"
    text.write_text("".join(f.read_text() for f in sorted((HERE.parent / "docs").glob("*.md"))))
    settings: list[str] = []
    for leaf in (f"data.path={text}", f"train.steps={options.steps}", "packing.fuse=off", *options.set):
        settings += ["--set", leaf]
    planned(options, settings, "--store", str(options.out / "none"))  # calibrates once, and audits are cached by:
    train(options, [*settings, "--set", "train.steps=1"], 1, options.out / "store")
    rounds = []
    for _ in range(options.rounds):
        machine.require_quiet(force=options.force)
        rounds.append(one_round(options, settings))
        print(json.dumps({k: round(v, 3) for k, v in rounds[-1].items()}), flush=True)
    errors = [r["error"] for r in rounds]
    print(f"error: median {statistics.median(errors):+.1%}, {min(errors):+.1%} ... {max(errors):+.1%}")
    (options.out / "simulation.json").write_text(json.dumps(rounds, indent=1))


if __name__ == "__main__":
    main()
