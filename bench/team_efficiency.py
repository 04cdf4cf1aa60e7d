"""Step time, efficiency and loss of one rank, of a team of two, and of one that divides its moments.

    python3 bench/team_efficiency.py [--build build/release] [--rounds 3] [--force]

Trains bench/data_parallel.yaml without audits, in rounds of the three in turn, so that what else the machine does
falls on all of them. Efficiency is the time of one rank over twice that of the team in the same round. The machine
should have two idle cores.
"""
import argparse
import pathlib
import subprocess
import tempfile

import h5py
import machine
from simulation import environment, without_audits

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"1": [], "2": ["resources.ranks_per_job=2"],
         "2, moments divided": ["resources.ranks_per_job=2", "resources.shard_optimizer=true"]}


def measure(build, store, leaves):
    """Median step time in ms, and the last training loss."""
    depthgrid = build / "depthgrid"
    words = without_audits(depthgrid) + [w for leaf in leaves for w in ("--set", leaf)]
    launcher = ["mpirun", "-q", "-np", "2"] if "resources.ranks_per_job=2" in leaves else []
    subprocess.run([*launcher, depthgrid, "run", ROOT / "bench/data_parallel.yaml", *words, "--store", store, "-q"],
                   env=environment(), check=True)
    with h5py.File(store / "sweep.h5") as data:
        return 1e3 * float(data["cost_step_time_p50"][0]), float(data["train_loss"][0][-1])


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--force", action="store_true", help="measure on a busy machine, too")
    options = options.parse_args()
    machine.require_quiet(force=options.force)
    found = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.rounds):
            for kind, leaves in KINDS.items():
                found[kind].append(measure(options.build, pathlib.Path(folder) / f"{kind[:1]}{len(leaves)}-{i}", leaves))
    for kind, rounds in found.items():
        times = ", ".join(f"{ms:.0f}" for ms, _ in rounds)
        shares = ", ".join(f"{alone / 2 / ms:.2f}" for (alone, _), (ms, _) in zip(found["1"], rounds))
        losses = ", ".join(sorted({f"{loss:.7f}" for _, loss in rounds}))
        print(f"{kind:20s} {times} ms; efficiency {'' if kind == '1' else shares:18s} training loss {losses}")


if __name__ == "__main__":
    main()
