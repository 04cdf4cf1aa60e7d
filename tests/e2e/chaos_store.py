"""What the trials of chaos.py have in common: the programs, a small sweep, and how a store is judged.

A store is judged by reading it in a process of its own (every HDF5 file, every dataset), by comparing what is
there with what was there before (a `Memory`: rows of journals, results), and by comparing the numbers with those of an
undisturbed store, bit for bit.
"""
import contextlib
import hashlib
import json
import multiprocessing
import os
import pathlib
import re
import signal
import struct
import subprocess
import time

import h5py
import numpy as np

SWEEP = """name: chaos
model:
  family: time_indexed
  d_model: 16
  n_layers: 2
  n_heads: 2
  time_features: {frequencies: 4}
data:
  corpus: synthetic:markov
  synthetic: {vocab_size: 16, tokens: 20000}
  seq_len: 16
train: {steps: STEPS, batch_size: 4, lr: 3e-3}
eval: {every: 50, windows: 8, final_windows: 16}
checkpoint: {every: EVERY}
probes:
  trajectory: {schedule: off}
  gates: {schedule: off}
  gradients: {schedule: off}
  logit_lens: {schedule: off}
  attention: {schedule: off}
  weights: {schedule: off}
retry: {backoff: 0.1, infrastructure: 1000, breaker_failures: 1000000}
resources: {lease: LEASE}
parameters:
  model.modulation.hidden: [4, 8]
seeds: SEEDS
"""
BITS = ("train_loss", "train_grad_norm", "train_update_norm", "eval_loss", "final_loss", "weights_sha256")
LIMIT = 180  # s that any command may take
LOOK = 30  # s that a look at a store may take


class Violation(Exception):
    """A promise that was not kept."""


class Programs:
    def __init__(self, build, work, **sizes):
        self.build, self.work = build, work
        self.depthgrid = str(build / "depthgrid")
        self.env = dict(
            os.environ, OMP_NUM_THREADS="1", XDG_CACHE_HOME=str(work / "cache"), OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
            OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_hwloc_base_binding_policy="none",
            OMPI_MCA_orte_tmpdir_base=str(work), OMPI_MCA_btl_vader_backing_directory=str(work))
        for name in ("DEPTHGRID_DATA", "DEPTHGRID_FAULT"):
            self.env.pop(name, None)
        schema = subprocess.run([self.depthgrid, "schema", "--markdown"], capture_output=True, text=True, check=True)
        self.audits = [w for leaf in re.findall(r"^\| `(audit\.[a-z_]*)`", schema.stdout, re.M)
                       for w in ("--set", leaf + "=off")]
        self.sweep = self.write_sweep("chaos.yaml", **sizes)

    def write_sweep(self, name, steps=200, every=20, lease=3, seeds=2):
        file = self.work / name
        text = SWEEP
        for word, value in (("STEPS", steps), ("EVERY", every), ("LEASE", lease), ("SEEDS", seeds)):
            text = text.replace(word, str(value))
        file.write_text(text)
        return file

    def words(self, store, *options, ranks=1, sweep=None):
        run = [self.depthgrid, "run", str(sweep or self.sweep), *self.audits, *options, "--store", str(store), "-q"]
        return ["mpirun", "-q", "-np", str(ranks), *run] if ranks > 1 else run

    sessions = set()  # of all processes that were started, here and in copies

    def start(self, words, fault="", log="chaos.log"):
        """A process in a session of its own; what it says goes to the file `log`."""
        env = dict(self.env, **({"DEPTHGRID_FAULT": fault} if fault else {}))
        with open(self.work / log, "wb") as out:
            child = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                     cwd=self.work, env=env, start_new_session=True)
        self.sessions.add(child.pid)
        return child

    def said(self, log="chaos.log"):
        return (self.work / log).read_text(errors="replace")

    def run(self, words, fault="", log="chaos.log", limit=LIMIT):
        """@return  exit code, what it said. @raises Violation if it takes too long."""
        child = self.start(words, fault, log)
        return wait(child, limit, words), self.said(log)

    def first_cell(self):
        done = subprocess.run([self.depthgrid, "plan", str(self.sweep), *self.audits, "--json"], capture_output=True,
                              text=True, cwd=self.work, env=self.env, timeout=LIMIT, check=True)
        return json.loads(done.stdout)["cells"][0]["id"]

    def look(self, verb, store):
        done = subprocess.run([self.depthgrid, verb, str(store), "--json"], capture_output=True, text=True,
                              cwd=self.work, env=self.env, timeout=LOOK, check=False)
        if not done.stdout:
            raise Violation(f"{verb} returned {done.returncode} and shows nothing: {done.stderr[-300:]}")
        return json.loads(done.stdout)


def wait(child, limit=LIMIT, what=""):
    try:
        return child.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        kill_all(tree(child.pid))
        child.wait()
        raise Violation(f"no end after {limit} s: {what}") from None


# ------------------------------------------------------------------ processes

def children(pid):
    try:
        return [int(p) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                for p in (task / "children").read_text().split()]
    except OSError:
        return []


def tree(pid):
    """The process and all below it."""
    out = [pid]
    for child in children(pid):
        out += tree(child)
    return out


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def workers(pid):
    """Processes below `pid` that train."""
    return [p for p in tree(pid) if command_of(p)[:1] and command_of(p)[0].endswith("depthgrid-worker")]


def session_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[3])
    except OSError:
        return -1


def end_sessions():
    """Ends what trials have left, by process id."""
    kill_all(p for p in (int(d.name) for d in pathlib.Path("/proc").iterdir() if d.name.isdigit())
             if session_of(p) in Programs.sessions)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def send(pid, what):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, what)
        return True
    return False


def kill_all(pids):
    for pid in pids:
        send(pid, signal.SIGKILL)


def wait_for(what, holds, seconds=60, pause=0.005):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = holds()
        if value:
            return value
        time.sleep(pause)
    raise Violation(f"no {what} within {seconds} s")


def checkpoints(store):
    return list(store.glob("cells/*/*/ckpt-*.h5"))


# ------------------------------------------------------------------ what is in a store

def frames(data):
    """(start, end, type, step) of every whole frame of a journal."""
    at, out = 8, []
    while at + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        end = at + 8 + length
        if end > len(data) or length < 16:
            break
        kind, _, step = struct.unpack_from("<IIq", data, at + 8)
        out.append((at, end, kind, step))
        at = end
    return out


def journal(data):
    """Number of bytes in whole frames, rows, last trained step; rows are what was acknowledged."""
    found = frames(data)
    if not found:
        return 0, 0, 0
    start, end, _, _ = found[0]
    kinds = json.loads(data[start + 8:end])["kinds"]
    train = next(i for i, k in enumerate(kinds) if any(c[0] == "train_loss" for c in k["columns"]))
    rows = [f for f in found[1:] if f[2] < len(kinds)]
    return found[-1][1], len(rows), max((f[3] for f in rows if f[2] == train), default=0)


class Memory:
    """Rows and results that a store held at one moment: later it may hold more, never less."""

    def __init__(self, store):
        self.journals, self.results, self.steps = {}, {}, {}
        self.rows = 0
        for file in store.glob("cells/*/*/result.h5"):
            self.results[file] = (file.stat().st_ino, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in store.glob("cells/*/*/journal-*"):
            with contextlib.suppress(FileNotFoundError):
                data = file.read_bytes()
                n, rows, step = journal(data)
                self.journals[file] = data[:n]
                self.rows += rows
                self.steps[file.parent.name] = max(step, self.steps.get(file.parent.name, 0))

    def judge(self):
        """@raises Violation if something is gone or has changed."""
        for file, (inode, digest) in self.results.items():
            if not file.exists():
                raise Violation(f"lost: {file}")
            if (file.stat().st_ino, hashlib.sha256(file.read_bytes()).hexdigest()) != (inode, digest):
                raise Violation(f"a second result: {file} was written again")
        for file, data in self.journals.items():
            if not file.exists() or file.read_bytes()[:len(data)] != data:
                raise Violation(f"acknowledged rows of {file} are gone")


def read_everything(store, pipe):
    files = 0
    try:
        # os.walk passes over a folder that a running process removes meanwhile, as the board of a run that ends.
        found = [pathlib.Path(folder) / name for folder, _, names in os.walk(store) for name in names]
        for file in sorted(found):
            if file.suffix != ".h5" or file.name.startswith(".tmp-"):
                continue
            try:
                with h5py.File(file) as data:
                    data.visititems(lambda _, item: item[()] if isinstance(item, h5py.Dataset) else None)
                files += 1
            except FileNotFoundError:
                pass  # an old checkpoint that a running process has just removed
            except Exception as problem:
                if file.exists():
                    raise Violation(f"unreadable: {file}: {problem}") from problem
        pipe.send(files)
    except Violation as problem:
        pipe.send(str(problem))


def read_apart(store):
    """Opens every HDF5 file in a process of its own. @return  how many."""
    ours, theirs = multiprocessing.Pipe()
    reader = multiprocessing.get_context("fork").Process(target=read_everything, args=(store, theirs))
    reader.start()
    theirs.close()
    try:
        if not ours.poll(LOOK):
            raise Violation(f"a file of {store} cannot be read within {LOOK} s")
        answer = ours.recv()
    except EOFError:
        raise Violation(f"the reader of {store} died") from None
    finally:
        reader.kill()
        reader.join()
    if isinstance(answer, str):
        raise Violation(answer)
    return answer


def meanings(data):
    """{word: value} of a flag."""
    words = data.attrs["flag_meanings"]
    words = words.decode() if isinstance(words, bytes) else str(words)
    return dict(zip(words.split(), (int(v) for v in data.attrs["flag_values"])))


class Reference:
    """An undisturbed store."""

    def __init__(self, programs, *options, ranks=1, name="undisturbed", sweep=None):
        self.store = programs.work / name
        started = time.monotonic()
        code, said = programs.run(programs.words(self.store, *options, ranks=ranks, sweep=sweep))
        self.seconds = time.monotonic() - started
        if code != 0:
            raise SystemExit(f"the undisturbed run returned {code}: {said}")
        self.rows = self.bits(self.store)
        with h5py.File(self.store / "sweep.h5") as data:
            steps = data["step"][()].astype(int)
            self.losses = {c.decode(): dict(zip(steps, row))
                           for c, row in zip(data["cell"][()], data["train_loss"][()])}

    @staticmethod
    def bits(store):
        """{cell: {variable: bytes}} of the completed cells."""
        with h5py.File(store / "sweep.h5") as data:
            completed = meanings(data["cell_status"])["completed"]
            done = data["cell_status"][()]
            values = {name: data[name][()] for name in BITS}
            return {cell.decode(): {n: np.asarray(v[i]).tobytes() if n != "weights_sha256" else v[i]
                                    for n, v in values.items()}
                    for i, cell in enumerate(data["cell"][()]) if done[i] == completed}

    def judge(self, store, cells=None):
        """@raises Violation unless these cells (default: all) are there, once, with the undisturbed bits."""
        rows = self.bits(store)
        wanted = self.rows.keys() if cells is None else cells
        if rows.keys() != set(wanted):
            raise Violation(f"{len(rows)} cells are completed, not {len(set(wanted))}")
        for cell in wanted:
            wrong = [n for n in BITS if rows[cell][n] != self.rows[cell][n]]
            if wrong:
                raise Violation(f"{', '.join(wrong)} of {cell} differ from the undisturbed run")
            results = list(store.glob(f"cells/*/{cell}/**/result.h5*"))
            if len(results) != 1:
                raise Violation(f"a second result: {results}")

    def judge_shown(self, cells, at_least):
        """What `results` shows: no fewer rows than before, and true ones. @param at_least  {cell: step}."""
        shown = {c["id"]: c for c in cells}
        for cell, step in at_least.items():
            if step > 0 and shown[cell]["step"] < step:
                raise Violation(f"{cell}: {step} steps were acknowledged, results shows {shown[cell]['step']}")
        for cell in cells:
            loss = cell["metrics"].get("train_loss") if cell["status"] != "completed" else None
            true = self.losses[cell["id"]].get(cell["step"])
            if loss is not None and (true is None or np.float32(loss) != np.float32(true)):
                raise Violation(f"{cell['alias']} shows loss {loss} at step {cell['step']}, not {true}")


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)
