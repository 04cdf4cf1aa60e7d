"""chaos.py isolation, detect and preempt: cells that fail, how soon it is noticed, and runs that are stopped often."""
import collections
import random
import re
import shutil
import signal
import time

from chaos_store import (Memory, Programs, Reference, Violation, alive, checkpoints, kill_all, read_apart, send,
                         table, tree, wait, wait_for, workers)

# What DEPTHGRID_FAULT orders, and the word by which `status` and the launch's record name it.
FAULTS = {
    "abort": ("signal 6", "crash"),
    "segv": ("signal 11", "crash"),
    "fpe": ("signal 8", "crash"),
    "exit": ("exit code 3", "crash"),
    "kill": ("signal 9", "killed"),
    "sleep": ("hang", "hang"),
    "oom": ("out of memory", "oom"),
    "error": ("an error on request", "error"),
    "device": ("infrastructure", "infrastructure"),
}
NO_RETRIES = [w for leaf in ("crash", "infrastructure", "hang", "oom") for w in ("--set", f"retry.{leaf}=0")]
WATCHED = ("-j", "2", "--set", "packing.fuse=off", "--set", "packing.cells_per_launch=1")
LARGE = tuple(w for leaf in ("model.d_model=896", "model.modulation.hidden=4", "seeds=1", "train.steps=30",
                             "train.batch_size=1") for w in ("--set", leaf))
TEAM = ("-j", "2", "--set", "resources.ranks_per_job=2", "--set", "packing.fuse=2")


def isolation(options):
    """Some cells fail, each in one of nine ways; the others are as in a run without failures."""
    programs = Programs(options.build, options.work, steps=40, every=10, seeds=(options.cells + 1) // 2)
    reference = Reference(programs)
    cells = [c["id"] for c in programs.look("results", reference.store)["cells"]]
    dice = random.Random(options.seed)
    chosen = dice.sample(cells, options.failing)
    ordered = {cell: list(FAULTS)[i % len(FAULTS)] for i, cell in enumerate(chosen)}
    fault = ",".join(f"{kind}@{dice.randrange(1, 40)}@{cell}" for cell, kind in ordered.items())
    store = options.work / "isolated"
    started = time.time()
    violations = []
    words = programs.words(store, *WATCHED, *NO_RETRIES, "--set", "resources.hang=2")
    code, said = programs.run(words, fault, limit=1200)
    seconds = time.time() - started
    if code != 4:
        violations.append(f"exit code {code}, not 4: {said[-400:]}")
    status = programs.look("status", store)
    problems = {p["id"]: p["problem"] for p in status["problems"]}
    total = len(reference.rows)
    if status["counts"]["completed"] != total - len(chosen):
        violations.append(f"{status['counts']['completed']} cells are completed, not {total - len(chosen)}")
    named = collections.Counter()
    for cell, kind in ordered.items():
        if any(word in problems.get(cell, "") for word in FAULTS[kind]):
            named[kind] += 1
        else:
            violations.append(f"{kind} of {cell} is not named: {problems.get(cell)}")
    try:
        read_apart(store)
        reference.judge(store, reference.rows.keys() - set(chosen))
        code, said = programs.run(programs.words(store, *WATCHED))  # healed
        if code != 0:
            raise Violation(f"healed, it ended with {code}: {said[-300:]}")
        reference.judge(store)
    except Violation as problem:
        violations.append(str(problem))
    if violations:
        options.keep_store(store)
    for problem in violations:
        print("VIOLATION", problem, flush=True)
    examples = {kind: problems.get(cell, "") for cell, kind in ordered.items()}
    table(["failure", "cells", "named by `status`", "as"],
          [[kind, list(ordered.values()).count(kind), named[kind], re.sub(r"\s+", " ", examples.get(kind, ""))[:110]]
           for kind in FAULTS if kind in ordered.values()])
    print(f"{total - len(chosen)} of {total} cells completed with the bits of a run without failures, "
          f"exit code 4, in {seconds:.0f} s; healed, the same command trained the others; seed {options.seed}")
    return len(violations)


# ------------------------------------------------------------------ how soon it is noticed

def after(programs, words, store, fault="", log="detect.log"):
    """A running command whose store has a checkpoint."""
    child = programs.start(words, fault, log)
    wait_for("checkpoint", lambda: checkpoints(store) or child.poll() is not None)
    return child


def ended(child):
    """A child of ours ends, and so do those below it."""
    pids = tree(child.pid)
    kill_all(pids)
    child.wait()
    wait_for("end", lambda: not any(alive(p) for p in pids))


def dead_rank(programs, store):
    """`kill -9` of a rank of a supervisor's team -> its job trains again (another journal)."""
    child = after(programs, programs.words(store, *TEAM), store)
    ranks = workers(child.pid)
    held = len(list(store.glob("cells/*/*/journal-*")))
    began = time.monotonic()
    send(ranks[-1], signal.SIGKILL)
    wait_for("new attempt", lambda: len(list(store.glob("launches/*/attempt-*.log"))) > 1)
    started = time.monotonic() - began
    wait_for("training", lambda: len(list(store.glob("cells/*/*/journal-*"))) > held)
    trains = time.monotonic() - began
    ended(child)
    return started, trains


def dead_worker(programs, store):
    child = after(programs, programs.words(store, "-j", "1"), store)
    began = time.monotonic()
    send(workers(child.pid)[0], signal.SIGKILL)
    wait_for("new attempt", lambda: len(list(store.glob("launches/*/attempt-*.log"))) > 1)
    seconds = time.monotonic() - began
    ended(child)
    return seconds


def hang(programs, store, deadline):
    """From the last row to the end of the process."""
    words = programs.words(store, "--set", f"resources.hang={deadline}", "--set", "retry.hang=0")
    child = programs.start(words, fault="sleep@50", log="hang.log")
    wait_for("rows", lambda: list(store.glob("cells/*/*/journal-*")))
    code = wait(child)
    if code != 76:
        raise Violation(f"a hang ended with {code}")
    last = max(f.stat().st_mtime for f in store.glob("cells/*/*/journal-*"))
    return time.time() - last


def silent_owner(programs, store, *options):
    """From an owner's last heartbeat (it gets SIGSTOP, with its supervisor) to the claim of a process that waits."""
    words = programs.words(store, *(options or ("--only", "id = " + programs.first_cell())))
    first = after(programs, words, store)
    second = programs.start(words, log="second.log")
    wait_for("successor", lambda: options or workers(second.pid))
    time.sleep(1.5)  # it has looked at the heartbeats
    stopped = tree(first.pid)
    for pid in stopped:
        send(pid, signal.SIGSTOP)
    last = max(f.stat().st_mtime for f in store.glob("cells/*/*/hb-*"))
    wait_for("claim", lambda: list(store.glob("cells/*/*/gen-000002")))
    seconds = min(f.stat().st_mtime for f in store.glob("cells/*/*/gen-000002")) - last
    kill_all(stopped)
    ended(first)
    ended(second)
    return seconds


def overhead(programs):
    """Seconds per cell that a launch of its own costs, and one launch for all."""
    out = {}
    cells = 8
    sweep = programs.write_sweep("short.yaml", steps=4, every=1000, seeds=cells // 2)
    for name, options in {"one process": (), "a launch for each": ("-j", "1", "--set", "packing.cells_per_launch=1"),
                          "one launch": ("-j", "1", "--set", f"packing.cells_per_launch={cells}")}.items():
        times = []
        for i in range(3):
            store = programs.work / f"overhead-{i}"
            shutil.rmtree(store, ignore_errors=True)
            began = time.monotonic()
            code, said = programs.run(programs.words(store, "--set", "packing.fuse=off", *options, sweep=sweep))
            if code != 0:
                raise Violation(f"{name}: exit code {code}: {said[-300:]}")
            times.append(time.monotonic() - began)
        out[name] = min(times)
    alone = out["one process"]
    return (out["a launch for each"] - alone) / cells, (out["one launch"] - alone) / cells


def detect(options):
    lease, deadline = 6, 3
    programs = Programs(options.build, options.work, steps=20000, every=20, lease=lease, seeds=1)
    rows, violations = [], 0
    times = collections.defaultdict(list)
    for n in range(options.rounds):
        def store(name):
            return options.work / f"{name}-{n}"
        started, trains = dead_rank(programs, store("rank"))
        times["rank killed → its launch started again"].append((started, 3))
        times["rank killed → its cells train again"].append((trains, None))
        times["worker killed → its launch started again"].append((dead_worker(programs, store("worker")), 3))
        times[f"rank hangs → ended (`resources.hang` = {deadline})"].append(
            (hang(programs, store("hang"), deadline), deadline + 6))
        times[f"owner silent → cell claimed by a run that waits (`resources.lease` = {lease})"].append(
            (silent_owner(programs, store("silent")), lease * 5 / 3))
        times["owner and its supervisor silent → cell claimed by another supervisor's launch"].append(
            (silent_owner(programs, store("supervisor"), *WATCHED), None))
    if not options.only:
        alone, together = overhead(programs)
        times["overhead of a launch for each cell, per cell"].append((alone, None))
        times["overhead of one launch of 8 cells, per cell"].append((together, None))
    for what, values in times.items():
        worst, limit = max(v[0] for v in values), values[0][1]
        bad = limit is not None and worst > limit
        violations += bad
        rows.append([what, len(values), f"{sorted(v[0] for v in values)[len(values) // 2]:.2f} s", f"{worst:.2f} s",
                     "–" if limit is None else f"< {limit:.1f} s" + (" VIOLATED" if bad else "")])
    table(["from → to", "trials", "median", "longest", "promised"], rows)
    return violations


# ------------------------------------------------------------------ preemption

def preempt(options):
    """USR1 again and again: a checkpoint and 75 within 5 s, and in the end the undisturbed bits."""
    programs = Programs(options.build, options.work, steps=600, every=100000)
    # name: options, ranks, times in a row
    kinds = {"plain run": ((), 1, options.rounds),
             "supervisor (`-j 2`)": (("-j", "2", "--set", "packing.fuse=2"), 1, options.rounds),
             "team of two under `mpirun`": (("--set", "resources.ranks_per_job=2"), 2, options.rounds),
             "a cell with 118 MB of weights and moments": (LARGE, 1, 3)}
    dice = random.Random(options.seed)
    rows, violations = [], 0
    for name, (how, ranks, rounds) in kinds.items():
        reference = Reference(programs, *how, ranks=ranks, name="undisturbed " + name.split()[0])
        store = options.work / ("preempted " + name.split()[0])
        words = programs.words(store, *how, ranks=ranks)
        stops, times = 0, []
        try:
            while stops < rounds:
                known = set(store.glob("cells/*/*/journal-*"))
                child = programs.start(words)
                wait_for("training", lambda: set(store.glob("cells/*/*/journal-*")) - known or child.poll() is not None)
                time.sleep(dice.uniform(0.02, 0.06) * reference.seconds)
                memory = Memory(store)
                began = time.monotonic()
                if not send(child.pid, signal.SIGUSR1) or child.poll() is not None:
                    break
                code = wait(child)
                times.append(time.monotonic() - began)
                if code == 0:
                    break
                stops += 1
                if code != 75:
                    raise Violation(f"USR1: exit code {code}, not 75: {programs.said()[-300:]}")
                if times[-1] > 5:
                    raise Violation(f"USR1: ended after {times[-1]:.1f} s")
                memory.judge()
            code, said = programs.run(words)
            if code != 0:
                raise Violation(f"the same command ended with {code}: {said[-300:]}")
            read_apart(store)
            reference.judge(store)
            bad = 0
        except Violation as problem:
            bad = 1
            print(f"VIOLATION {name}: {problem}", flush=True)
            options.keep_store(store)
        violations += bad
        rows.append([name, stops, f"{max(times, default=0):.2f} s", bad])
    table(["stopped by USR1", "times in a row", "longest until exit 75", "violations"], rows)
    return violations
