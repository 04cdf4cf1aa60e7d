#!/usr/bin/env python3
"""Damages files of stores, one per trial, and judges what the programs do about it.

    .venv/bin/python tests/e2e/damage.py --build build/release --trials 1000 [--seed 1] [--first 0]

Stores are made by the real programs at several stages of a small sweep: finished, finished and never
packed, killed while training, killed and packed, killed twice, submitted to a pretended Slurm and killed under a
supervisor, grown by a second plan and killed, given up after crashes, killed after a snapshot of its metrics. Each trial copies one, damages one of
its files in one way at a random place (all drawn from the seed and the number of the trial), then runs
`status`, `results`, sometimes `pack`, and `run`, and compares every number with an undisturbed store.

A trial is good if no number was ever shown that differs from the undisturbed one, nothing crashed or
hung, and in the end either every number is there again, or the exit code and a message that names the
file say what cannot be had. `--keep DIR` keeps the stores of failed trials. The last lines are a table
for docs/reliability.md. The exit code is 1 if a trial failed.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

SWEEP = """name: damage
model: {family: standard, d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: file, path: text.txt, tokenizer: byte, seq_len: 16}
train: {steps: STEPS, batch_size: 4}
eval: {every: 20, windows: 8, final_windows: 8}
checkpoint: {every: 30}
audit: {overfit_batch: off, gradient_flow: off, fusion: off}
resources: {lease: 2}
parameters:
  train.lr: [1e-3, 3e-3]
seeds: 2
"""
STEPS = 240
SUPERVISED = ("-j", "2", "--set", "packing.fuse=2", "--set", "packing.cells_per_launch=1")
LOOK_SECONDS, RUN_SECONDS = 20, 120
# Numbers that time decides, or the number of attempts.
VARY = re.compile(r"^(cost_|predicted_|train_wall_time|replay|train_epoch_time)")
SERIES = ("train_loss", "train_grad_norm", "eval_loss", "final_loss", "best_loss", "n_steps", "n_evals")
KINDS = ("flip", "zero", "cut", "empty", "garbage", "swap", "delete", "folder", "link", "dangling")


# What stands for Slurm: no task is in its queue.
SLURM = {"sbatch": "echo $$", "squeue": "exit 0", "sinfo": "exit 0", "scontrol": "echo 'MaxArraySize = 1001'"}


class Failure(Exception):
    pass


class Programs:
    def __init__(self, build, work):
        self.depthgrid = str(build / "depthgrid")
        self.work = work
        self.env = dict(os.environ, OMP_NUM_THREADS="1", XDG_CACHE_HOME=str(work / "cache"))
        self.env.pop("DEPTHGRID_DATA", None)
        slurm = work / "slurm"
        slurm.mkdir()
        for name, text in SLURM.items():
            (slurm / name).write_text(f"#!/bin/sh\n{text}\n")
            (slurm / name).chmod(0o755)
        self.env["PATH"] = f"{slurm}:{self.env['PATH']}"

    def call(self, *words, seconds):
        """Exit code, stdout, stderr. @raises Failure for a crash or a hang."""
        with subprocess.Popen([self.depthgrid, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.work, env=self.env, text=True, errors="replace",
                              start_new_session=True) as child:
            try:
                out, err = child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise Failure(f"hang: {words[0]} ran for more than {seconds} s") from None
        code = child.returncode
        raw = re.search(r"INTERNAL|json\.exception|basic_string|std::|terminate called|\.cpp:\d+", err)
        if code < 0 or code >= 128 or code == 1 or raw:
            raise Failure(f"crash: {words[0]} returned {code}: {err[-400:]}")
        return code, out, err


def numbers_of(cell):
    return {n: v for n, v in cell["metrics"].items() if not VARY.match(n)}


def packed_numbers(file):
    """{cell: {variable: array}} of the finished rows; NaN beyond a cell's own length does not count."""
    out = {}
    with h5py.File(file) as data:
        steps = data["step"][()].astype(int) if "step" in data else np.zeros(0, int)
        for row, cell in enumerate(data["cell"][()]):
            if data["cell_status"][row] not in (2, 3):
                continue
            values = {n: data[n][row] for n in SERIES if n in data}
            if "train_loss" in values:
                values["train_loss"] = values["train_loss"][steps <= STEPS]
            out[cell.decode()] = values
    return out


def same(a, b):
    return a.keys() == b.keys() and all(
        np.array_equal(a[n][~np.isnan(a[n])] if a[n].dtype.kind == "f" and a[n].ndim else a[n],
                       b[n][~np.isnan(b[n])] if b[n].dtype.kind == "f" and b[n].ndim else b[n],
                       equal_nan=a[n].dtype.kind == "f") for n in a)


class Reference:
    """The undisturbed numbers of every cell, and its losses step by step."""

    def __init__(self, programs, store):
        _, out, _ = programs.call("results", str(store), "--json", seconds=LOOK_SECONDS)
        self.cells = {c["id"]: c for c in json.loads(out)["cells"]}
        self.rows = packed_numbers(store / "sweep.h5")
        with h5py.File(store / "sweep.h5") as data:
            ids = [c.decode() for c in data["cell"][()]]
            steps = data["step"][()].astype(int)
            self.losses = {c: dict(zip(steps, data["train_loss"][i].astype(float))) for i, c in enumerate(ids)}

    def judge_shown(self, cells):
        """@raises Failure if a number differs from the undisturbed one."""
        for cell in cells:
            true = self.cells.get(cell["id"])
            if true is None:
                raise Failure(f"wrong: cell {cell['id']} is not of this sweep")
            shown = numbers_of(cell)
            if cell["status"] in ("completed", "diverged"):
                wrong = {n: (v, numbers_of(true).get(n)) for n, v in shown.items() if numbers_of(true).get(n) != v}
                if wrong or cell["step"] != true["step"]:
                    raise Failure(f"wrong: {cell['alias']} at step {cell['step']} shows {dict(list(wrong.items())[:3])}")
            elif "train_loss" in shown:
                loss = self.losses[cell["id"]].get(cell["step"])
                if loss is None or np.float32(shown["train_loss"]) != np.float32(loss):
                    raise Failure(f"wrong: {cell['alias']} shows loss {shown['train_loss']} at step {cell['step']}, "
                                  f"not {loss}")


def complete(cells, reference):
    return len(cells) == len(reference.cells) and all(
        c["status"] == reference.cells[c["id"]]["status"] and
        numbers_of(c) == numbers_of(reference.cells[c["id"]]) for c in cells)


# ------------------------------------------------------------------ the stores

def checkpoints(store):
    return sorted(str(f) for f in store.glob("cells/*/*/ckpt-*.h5"))


def begin(programs, sweep, store, *options):
    return subprocess.Popen([programs.depthgrid, "run", str(sweep), "--store", str(store), "-q", *options],
                            cwd=programs.work, env=programs.env, start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until(child, holds):
    end = time.time() + RUN_SECONDS
    while child.poll() is None and not holds() and time.time() < end:
        time.sleep(0.002)


def with_worker(child):
    """The process and its worker, which has a process group of its own."""
    try:
        workers = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    except OSError:
        workers = []
    return [int(w) for w in workers] + [child.pid]


def send(pids, what):
    for pid in pids:
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass


def end_with(child, what):
    """The worker gets the signal first; of a fault depthgrid then reports."""
    pids = with_worker(child)
    send(pids[:-1] if what == signal.SIGSEGV and len(pids) > 1 else pids, what)
    child.wait()


def killed_run(programs, sweep, store, checkpoints_more, *options):
    """A run whose processes are killed with -9 once some checkpoints have been written."""
    before = len(checkpoints(store))
    child = begin(programs, sweep, store, *options)
    end = time.time() + RUN_SECONDS
    while child.poll() is None and time.time() < end:
        made = checkpoints(store)
        steps = {f.rsplit("/", 1)[1] for f in made}
        if set(made) and len(made) >= before and len(steps) >= checkpoints_more:
            break
        time.sleep(0.002)
    time.sleep(0.01)
    end_with(child, signal.SIGKILL)


def grown_store(programs, sweep, store):
    """Two plans: the first done, the second killed."""
    first = programs.work / "first.yaml"
    first.write_text(sweep.read_text().replace("seeds: 2", "seeds: 1"))
    programs.call("run", str(first), "--store", str(store), "-q", seconds=RUN_SECONDS)
    killed_run(programs, sweep, store, 2)


def submitted_store(programs, sweep, store):
    """A submission, and launches of a supervisor that was killed."""
    code, _, err = programs.call("submit", str(sweep), "--store", str(store), "--yes", seconds=LOOK_SECONDS)
    if code != 0:
        sys.exit(f"submit returned {code}: {err}")
    programs.call("run", str(sweep), "--store", str(store), "-q", *SUPERVISED, "--only", "seed = 0",
                  seconds=RUN_SECONDS)  # leaves records of a launch and of its supervisor
    killed_run(programs, sweep, store, 3, *SUPERVISED)


def crashed_store(programs, sweep, store):
    """A cell that was given up, with the report of its failure."""
    for _ in range(40):  # only crashes that get no further than those before count
        if list(store.glob("cells/*/*/failed-*.json")):
            return
        journals = len(list(store.glob("cells/*/*/journal-*")))
        child = begin(programs, sweep, store, "--set", "retry.crash=0", "--set", "checkpoint.every=null")
        wait_until(child, lambda: len(list(store.glob("cells/*/*/journal-*"))) > journals)
        end_with(child, signal.SIGSEGV)
    sys.exit("no cell was given up after forty crashes")


def snapshot_store(programs, sweep, store):
    """Snapshots come every half minute: the training sleeps that long."""
    child = begin(programs, sweep, store)
    wait_until(child, lambda: checkpoints(store))
    pids = with_worker(child)
    send(pids, signal.SIGSTOP)
    time.sleep(31)
    send(pids, signal.SIGCONT)
    wait_until(child, lambda: list(store.glob("cells/*/*/metrics.h5")))
    end_with(child, signal.SIGKILL)
    if not list(store.glob("cells/*/*/metrics.h5")):
        sys.exit("no snapshot was written")


def make_stores(programs, sweep, full):
    """{stage: store}; the first is the undisturbed one."""
    work = programs.work
    out = {"finished": work / "finished"}
    code, _, err = programs.call("run", str(sweep), "--store", str(out["finished"]), "-q", seconds=RUN_SECONDS)
    if code != 0:
        sys.exit(f"the undisturbed run returned {code}: {err}")
    out["unpacked"] = work / "unpacked"
    shutil.copytree(out["finished"], out["unpacked"], symlinks=True)
    (out["unpacked"] / "sweep.h5").unlink()
    for stage, twice, packed in (("killed", False, False), ("killed, packed", False, True),
                                 ("killed twice", True, False))[: 3 if full else 2]:
        store = work / stage.replace(", ", "_").replace(" ", "_")
        killed_run(programs, sweep, store, 2)
        if twice:
            killed_run(programs, sweep, store, 4)
        if packed:
            programs.call("pack", str(store), seconds=LOOK_SECONDS)
        out[stage] = store
    out["submitted"] = work / "submitted"
    submitted_store(programs, sweep, out["submitted"])
    if full:
        for stage, make in (("grown", grown_store), ("crashed", crashed_store), ("snapshot", snapshot_store)):
            out[stage] = work / stage
            make(programs, sweep, out[stage])
    return out


# ------------------------------------------------------------------ the damage

def class_of(path):
    """Kind of a file of a store, from its path inside it."""
    name = path.name
    for folder in ("corpora", "texts", "tokens", "logs"):
        if path.parts[0] == folder:
            return folder + "/"
    for stem in ("gen-", "hb-", "journal-", "ckpt-", "failed-"):
        if name.startswith(stem):
            return stem + "…"
    return name


def files_of(store):
    found = collections.defaultdict(list)
    for folder, _, names in os.walk(store):
        for name in names:
            path = pathlib.Path(folder, name).relative_to(store)
            if ".damaged-" not in name and "corrupt" not in path.parts:
                found[class_of(path)].append(path)
    return {k: sorted(v) for k, v in found.items()}


def damage(store, path, kind, dice, files):
    """Damages one file. @return  the kind that was done, or None if there is nothing to do it with."""
    file = store / path
    data = bytearray(file.read_bytes())
    size = len(data)
    if kind in ("flip", "zero", "cut", "garbage") and size == 0:
        return None
    if kind == "flip":
        at = dice.randrange(min(size, 600) if dice.random() < 0.25 else size)
        data[at] ^= 1 << dice.randrange(8)
    elif kind == "zero":
        at, n = dice.randrange(size), dice.choice((1, 16, 512, 4096))
        if not any(data[at:at + n]):
            return None
        data[at:at + n] = bytes(len(data[at:at + n]))
    elif kind == "garbage":
        at, n = dice.randrange(size), dice.choice((4, 64, 4096))
        data[at:at + n] = dice.randbytes(len(data[at:at + n]))
    elif kind == "cut":
        del data[dice.randrange(size):]
    elif kind == "empty":
        data.clear()
    elif kind == "swap":
        others = [p for p in files[class_of(path)] if p != path and (store / p).read_bytes() != bytes(data)]
        if not others:
            return None
        other = store / dice.choice(others)
        file.write_bytes(other.read_bytes())
        other.write_bytes(bytes(data))
        return kind
    else:
        file.unlink()
        if kind == "folder":
            file.mkdir()
            (file / "something").write_text("in the way")
        elif kind == "link":
            moved = store.parent / "moved"
            moved.write_bytes(bytes(data))
            file.symlink_to(moved)
        elif kind == "dangling":
            file.symlink_to("nowhere")
        return kind
    file.write_bytes(bytes(data))
    return kind


# ------------------------------------------------------------------ a trial

def look(programs, store, reference):
    """`status` and `results`. @return  (exit code of status, cells or None, everything that was said)."""
    code, out, err = programs.call("status", str(store), seconds=LOOK_SECONDS)
    said = out + err
    results, out, err = programs.call("results", str(store), "--json", seconds=LOOK_SECONDS)
    said += err
    if results != 0:
        return code, None, said
    cells = json.loads(out)["cells"]
    reference.judge_shown(cells)
    return code, cells, said


def trial(programs, sweep, store, path, reference, undamaged, pack):
    """@return  how it ended: "same", "computed again" or "refused". @raises Failure."""
    code, cells, said = look(programs, store, reference)
    done = [c for c in undamaged if c["status"] == "completed"]
    if cells is not None:
        now = {c["id"]: numbers_of(c) for c in cells}
        lost = [c for c in done if now.get(c["id"]) != numbers_of(c)]
        if lost and code == 0:
            raise Failure(f"silent: status returns 0, {lost[0]['alias']} has lost its numbers")
    elif code == 0 or path.name not in said:
        raise Failure(f"silent: nothing is shown, status returns {code} and says: {said[-300:]}")
    if pack:
        programs.call("pack", str(store), seconds=LOOK_SECONDS)
    supervised = (store / "launches").exists()
    run_said = ""
    if supervised:  # what is missing would be submitted again
        _, _, run_said = programs.call("submit", str(sweep), "--store", str(store), "--yes", "--dry-run",
                                       seconds=LOOK_SECONDS)
    code, _, err = programs.call("run", str(sweep), "--store", str(store), "-q", *(SUPERVISED if supervised else ()),
                                 seconds=RUN_SECONDS)
    run_said += err
    status, cells, said = look(programs, store, reference)
    if code != 0 or cells is None:
        if path.name not in run_said + said and path.stem not in run_said + said:
            raise Failure(f"unsaid: run returned {code} without naming {path}: {err[-300:]}")
        if code == 0:
            raise Failure(f"silent: run returned 0, results shows nothing: {said[-300:]}")
        return "refused"
    if not complete(cells, reference):
        raise Failure(f"silent: run returned 0, but not every number is there ({status}): {run_said[-300:]}")
    rows = packed_numbers(store / "sweep.h5")
    for cell, row in reference.rows.items():
        if cell not in rows or not same(rows[cell], row):
            raise Failure(f"silent: the records of {cell} in sweep.h5 differ from the undisturbed ones")
    if status != 0:
        raise Failure(f"status returns {status} after everything was computed again: {said[-300:]}")
    again = {c["id"]: numbers_of(c) for c in undamaged}
    changed = "damaged" in run_said or ".damaged-" in run_said
    return "said, computed again" if changed or any(
        again.get(c) != numbers_of(v) for c, v in reference.cells.items()) else "no effect on a number"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the stores of failed trials")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no trial after this time")
    parser.add_argument("--stage", help="only stores of this stage")
    parser.add_argument("--few-stages", action="store_true", help="fewer stores, for a short test")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    started = time.time()
    with tempfile.TemporaryDirectory(prefix="depthgrid-damage-") as folder:
        work = pathlib.Path(folder)
        programs = Programs(options.build.resolve(), work)
        dice = random.Random(options.seed)
        words = ["".join(dice.choice("abcdefgh") for _ in range(dice.randint(2, 6))) for _ in range(60)]
        (work / "text.txt").write_text("\n".join(" ".join(dice.choices(words, k=12)) for _ in range(700)) + "\n")
        sweep = work / "damage.yaml"
        sweep.write_text(SWEEP.replace("STEPS", str(STEPS)))
        stores = make_stores(programs, sweep, not options.few_stages)
        reference = Reference(programs, stores["finished"])
        undamaged = {}
        for stage, store in stores.items():
            _, out, _ = programs.call("results", str(store), "--json", seconds=LOOK_SECONDS)
            undamaged[stage] = json.loads(out)["cells"]
            reference.judge_shown(undamaged[stage])
        print(f"{len(stores)} stores in {time.time() - started:.0f} s: " + ", ".join(
            f"{k} ({sum(c['status'] == 'completed' for c in v)} of {len(v)} cells done)" for k, v in undamaged.items()),
            flush=True)
        ends, failures, done = collections.defaultdict(collections.Counter), [], 0
        for n in range(options.first, options.first + options.trials):
            if time.time() - started > options.seconds:
                break
            dice = random.Random(f"{options.seed}/{n}")
            stage = dice.choice([options.stage] if options.stage else list(stores))
            copy = work / "trial"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(stores[stage], copy, symlinks=True)
            files = files_of(copy)
            what = None
            while what is None:
                path = dice.choice(files[dice.choice(sorted(files))])
                what = damage(copy, path, dice.choice(KINDS), dice, files)
            kept = work / "damaged"
            if options.keep:
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(copy, kept, symlinks=True)
            done += 1
            try:
                end = trial(programs, sweep, copy, path, reference, undamaged[stage], dice.random() < 0.5)
            except Failure as failure:
                end = "FAILED"
                failures.append(f"trial {n} (seed {options.seed}): {stage}: {what} {path}: {failure}")
                print(failures[-1], flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copytree(kept, options.keep / f"trial-{n}", symlinks=True, dirs_exist_ok=True)
            ends[class_of(path)][end] += 1
            if options.verbose:
                print(f"{n}: {stage}: {what} {path}: {end}", flush=True)
    names = ["no effect on a number", "said, computed again", "refused", "FAILED"]
    print("\n| file | trials | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    total = collections.Counter()
    for kind in sorted(ends):
        total += ends[kind]
        print(f"| `{kind}` | {sum(ends[kind].values())} | " + " | ".join(str(ends[kind][e]) for e in names) + " |")
    print(f"| all | {done} | " + " | ".join(str(total[e]) for e in names) + " |")
    print(f"\n{done} damages in {time.time() - started:.0f} s, {len(failures)} failed; seed {options.seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
