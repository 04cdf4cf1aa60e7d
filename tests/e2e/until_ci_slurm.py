#!/usr/bin/env python3
"""`submit --until-ci` on a real Slurm: one command, typed three times, trains stage one, decides and trains stage two, and says
that all is done. The decision stays as it was, and its intervals are those that Python computes from the cells.

usage: until_ci_slurm.py BUILD_FOLDER SOURCE_FOLDER
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

T975_4 = 2.7764451051977987  # quantile of Student's distribution, four degrees of freedom
WIDTH, MOST = 0.06, 12  # stage one asks for eight seeds
SWEEP = """name: staged
model: {d_model: 8, n_layers: 1, n_heads: 2}
data: {corpus: synthetic:markov, seq_len: 8}
train: {steps: 8, batch_size: 4}
eval: {every: 4, windows: 4, final_windows: 8}
checkpoint: {every: null}
resources: {device: cpu, time: 10, lease: 5}
slurm: {signal_delay: 10}
parameters: {train.lr: [0.003, 0.03]}
baseline: {train.lr: 0.003}
seeds: 5
"""


def output(*command, code=0):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != code:
        sys.exit(f"FAILED: {' '.join(map(str, command))} returned {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
    return done.stdout


def wait_for_tasks(seconds=120):
    end = time.monotonic() + seconds
    while output("squeue", "-h", "-r").strip():
        if time.monotonic() > end:
            sys.exit(f"FAILED: tasks are in the queue after {seconds} s\n" + output("squeue", "-r"))
        time.sleep(0.1)


def losses(depthgrid):
    cells = json.loads(output(depthgrid, "results", "store", "--json"))["cells"]
    return {(c["arm"], c["seed"]): c["metrics"]["final_loss.valid"] for c in cells if c["status"] == "completed"}


def interval(loss, n):
    """n by the rule, mean of the n differences and its half-width, by the deviation of the first five."""
    all_of = [loss["lr=0.03", s] - loss["lr=0.003", s] for s in range(n)]
    first = sum(all_of[:5]) / 5
    sd = math.sqrt(sum((d - first) ** 2 for d in all_of[:5]) / 4)
    wanted = max(5, math.ceil((T975_4 * sd / WIDTH) ** 2))
    return wanted, sum(all_of) / n, T975_4 * sd / math.sqrt(n)


def stages(depthgrid):
    record = pathlib.Path("store/until_ci.json")
    staged = (depthgrid, "submit", "sweep.yaml", "--store", "store", "--until-ci", WIDTH, "--max-seeds", MOST)

    said = output(*staged)
    assert "10 cells in" in said and not record.exists(), said
    assert not json.loads(output(*staged, "--json"))["tasks"] and not record.exists(), "stage one is in the queue"
    wait_for_tasks()
    loss = losses(depthgrid)
    assert len(loss) == 10, loss.keys()
    n = interval(loss, 5)[0]
    assert 5 < n <= MOST, f"stage one asks for {n} seeds: another WIDTH is needed here"

    said = output(*staged)
    assert f"stage one of 5 seeds asks for {n}" in said and f"{2 * (n - 5)} cells in" in said, said
    assert f"5 of {n}" in said and "missing: lr=0.03,s5 (" in said, said
    decided = record.read_bytes()
    assert json.loads(decided)["first_seeds"] == list(range(5)) and json.loads(decided)["seeds"] == list(range(n)), decided
    wait_for_tasks()

    said = output(*staged)
    assert f"{2 * n} cells done" in said and "nothing to submit" in said and "4 degrees of freedom" in said, said
    assert record.read_bytes() == decided, "a decision is made once"
    loss = losses(depthgrid)
    assert len(loss) == 2 * n, loss.keys()
    wanted, mean, half = interval(loss, n)
    assert wanted == n
    answer = json.loads(output(depthgrid, "results", "store", "--by", "arm", "--json"))
    row = answer["until_ci"][0]["arms"][0]
    assert (row["arm"], row["n"], row["degrees"], row["missing"]) == ("lr=0.03", n, 4, []), row
    assert abs(row["mean"] - mean) < 1e-12 and abs(row["half_width"] - half) < 1e-10, (row, mean, half)
    assert abs(row["low"] - (mean - half)) < 1e-10 and half <= WIDTH, row
    assert all(arm["metrics"]["final_loss.valid"]["n"] == n for arm in answer["arms"]), answer["arms"]
    assert "4 degrees of freedom" in output(depthgrid, "results", "store", "--by", "arm")

    # The seeds are the sweep's from now on, whatever reads it.
    plan = json.loads(output(depthgrid, "plan", "sweep.yaml", "--store", "store", "--json"))
    assert len(plan["cells"]) == 2 * n, plan["cells"]
    output(depthgrid, "run", "sweep.yaml", "--store", "store", "-q")
    assert len(losses(depthgrid)) == 2 * n and record.read_bytes() == decided
    print(f"{n} seeds of two arms in two stages: {mean:+.4f} ± {half:.4f}")


def main():
    build, sources = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    if not all(shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin") for p in ("munged", "slurmctld", "slurmd")):
        print("skipped: Slurm is not installed")
        sys.exit(77)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="depthgrid-e2e."))
    lab, labdir = sources / "scripts/slurm/lab.sh", scratch / "lab"
    os.chdir(scratch)
    os.environ |= {"XDG_CACHE_HOME": str(scratch / "cache"), "OMP_NUM_THREADS": "1"}
    os.environ.pop("DEPTHGRID_DATA", None)
    pathlib.Path("sweep.yaml").write_text(SWEEP)
    try:
        output(lab, "start", labdir, 2, 0)
        for name, value in re.findall(r"(\w+)=(\S+)", output(lab, "env", labdir)):
            os.environ[name] = value.replace("$PATH", os.environ["PATH"])
        stages(build / "depthgrid")
    finally:
        subprocess.run([lab, "stop", labdir], check=False)
        os.chdir("/")
        shutil.rmtree(scratch, ignore_errors=True)


main()
