"""What lies in the folder of a case of messages.py, beside its own files."""

import json
import pathlib
import shutil
import subprocess
import threading

SWEEP = """name: small
model: {family: standard, d_model: 8, n_layers: 1, n_heads: 2}
data: {corpus: file, path: text.txt, tokenizer: byte, seq_len: 8}
train: {steps: 4, batch_size: 2}
eval: {every: 4, windows: 2, final_windows: 2}
checkpoint: {every: 2}
resources: {device: cpu}
audit: {AUDITS}
parameters:
  train.lr: [1e-3, 3e-3]
"""
TEXT = "".join(f"The {i}th quick brown fox jumps over {i * i} lazy dogs.\n" for i in range(40))
SMALL = pathlib.Path("results/small")
_once = threading.Lock()


def finished_store(runner):
    """small.yaml, its text and its store; trained once, then copied."""
    kept = runner.scratch / "finished"
    with _once:
        if not kept.exists():
            kept.mkdir()
            with_a_file(kept, runner)
            subprocess.run([runner.build / "depthgrid", "run", "small.yaml", "-q"], cwd=kept, env=runner.env,
                           capture_output=True, check=True)  # fmt: skip
    return kept


def cell(folder, last=False):
    """The folder of the first or last cell of the plan."""
    return sorted((folder / SMALL / "cells").glob("*/*"))[-1 if last else 0]


def unfinished(folder):
    for file in ["result.h5", "sweep.h5"]:
        for found in [*(folder / SMALL).glob(file), *cell(folder).glob(file)]:
            found.unlink()


def with_a_file(folder, runner):
    schema = subprocess.run([runner.build / "depthgrid", "schema", "--json"], env=runner.env, capture_output=True,
                            check=True)  # fmt: skip
    leaves = [leaf["path"] for leaf in json.loads(schema.stdout)["leaves"]]
    audits = ", ".join(f"{path[6:]}: off" for path in leaves if path.startswith("audit."))
    (folder / "small.yaml").write_text(SWEEP.replace("AUDITS", audits))
    (folder / "text.txt").write_text(TEXT)


def later_format(folder):
    file = folder / SMALL / "STORE.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99}))


def cut(file):
    file.write_bytes(file.read_bytes()[:100])


def taken(folder):
    """As if a process of another machine trained a cell again."""
    home = cell(folder)
    claim = json.loads((home / "gen-000001").read_text())
    (home / "gen-000002").write_text(json.dumps({**claim, "host": "elsewhere", "boot_id": "another"}))
    (home / "hb-000002").write_text(f"{1:019} beats\n")


# What is done to a copy of the finished store.
CHANGES = {
    "a finished store": lambda folder: None,
    "a store with a cell that another machine trains again": taken,
    "a store of a later release": later_format,
    "a store whose STORE.json is damaged": lambda folder: (folder / SMALL / "STORE.json").write_text("{"),
    "a store whose plan is damaged": lambda folder: cut(folder / SMALL / "plan.h5"),
    "a store without a plan": lambda folder: (folder / SMALL / "plan.h5").unlink(),
    "a store with a damaged result": lambda folder: cut(cell(folder) / "result.h5"),
    "a store whose text has changed": lambda folder: (unfinished(folder), (folder / "text.txt").write_text(TEXT + TEXT)),
}


def make(place, folder, runner):
    if place is None:
        return
    if place == "a folder with a sweep file":
        with_a_file(folder, runner)
    elif place == "a folder without the worker":
        with_a_file(folder, runner)
        (folder / "bin").mkdir()
        # By a process: a file that this one writes is busy for whoever another thread has just started.
        subprocess.run(["cp", runner.build / "depthgrid", folder / "bin/depthgrid"], check=True)
    else:
        shutil.copytree(finished_store(runner), folder, dirs_exist_ok=True)
        CHANGES[place](folder)
