"""Resident memory of the ranks of a team, with the optimiser's moments on each and divided among them.

    python3 bench/team_memory.py [--build build/release] [--width 768]

Trains bench/data_parallel.yaml with two ranks, without audits, and reads VmRSS of the second rank while it
trains: the least of the last readings, since products take workspace from time to time. The first rank's would also
hold what it freed before, when it planned.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import h5py
from simulation import environment, without_audits

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = 16


def resident(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def ranks_below(pid):
    shown = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    below, out = {pid}, []
    for line in sorted(shown.splitlines(), key=lambda one: int(one.split()[0])):
        child, parent, *words = line.split()
        if int(parent) in below:
            below.add(int(child))
            if "depthgrid-worker" in words[0]:
                out.append(int(child))
    return out


def measure(build, store, width, divided):
    depthgrid = build / "depthgrid"
    leaves = {"model.d_model": width, "train.steps": STEPS, "train.batch_size": 2, "data.seq_len": 32,
              "resources.ranks_per_job": 2, "resources.shard_optimizer": str(divided).lower()}
    words = [w for leaf, value in leaves.items() for w in ("--set", f"{leaf}={value}")]
    run = subprocess.Popen(["mpirun", "-q", "--oversubscribe", "-np", "2", depthgrid, "run",
                            ROOT / "bench/data_parallel.yaml", *without_audits(depthgrid), *words, "--store", store,
                            "--json-progress"], env=environment(), stderr=subprocess.PIPE, text=True)
    readings = []
    for line in run.stderr:
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "step" and STEPS // 2 < event.get("step", 0) < STEPS:
            readings.append(resident(ranks_below(run.pid)[-1]))
    if run.wait() != 0 or not readings:
        raise SystemExit(f"the run ended with {run.returncode}; {len(readings)} readings: a larger --width is slower, and "
                         f"told more often")
    with h5py.File(store / "sweep.h5") as data:
        return int(data["n_parameters"][0]), min(readings), data["train_loss"][0].tobytes()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--width", type=int, default=768)
    options = options.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for divided in (False, True):
            found[divided] = measure(options.build, pathlib.Path(folder) / str(divided), options.width, divided)
    parameters, each, loss = found[False]
    _, part, same_loss = found[True]
    print(f"{parameters} parameters, training losses {'equal' if loss == same_loss else 'DIFFERENT'}; resident memory of "
          f"the second rank: {each / 2**20:.0f} MiB with all moments, {part / 2**20:.0f} MiB with half of them; "
          f"{(each - part) / 2**20:.0f} MiB less, of {8 * parameters / 2 / 2**20:.0f} MiB that 4 * 2 * P / R gives")


if __name__ == "__main__":
    main()
