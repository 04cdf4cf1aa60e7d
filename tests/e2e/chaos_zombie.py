"""chaos.py zombie: owners that are suspended for longer than their lease and then go on.

An owner (the worker of a plain run, or a supervisor with all that it has started, or the supervisor alone) gets SIGSTOP
in the middle of its work; another process takes its cells over; at some moment after that the owner gets SIGCONT.
"""
import concurrent.futures
import random
import shutil
import signal
import time

from chaos_store import (Memory, Programs, Reference, Violation, alive, checkpoints, journal, kill_all, read_apart,
                         send, table, tree, wait, wait_for, workers)

LEASE = 2
AT_ONCE = 4  # mostly they wait
WATCHED = ("-j", "2", "--set", "packing.fuse=2", "--set", "packing.cells_per_launch=1")
KINDS = {
    "worker of a plain run": ((), lambda pid: workers(pid)),
    "supervisor and its workers": (WATCHED, tree),
    "supervisor alone": (WATCHED, lambda pid: [pid]),
}
HEAD = ["suspended", "events", "woken while the successor trained", "woken after the last result",
        "rows of zombies (in their own journals, not shown)", "results written twice", "violations"]


def old_rows(store, generations):
    """Rows in the journals of those that were suspended."""
    return {file: journal(file.read_bytes())[1] for file in generations}


def event(programs, reference, kind, number, dice):
    """@return  (woken after the end, rows that the zombie wrote). @raises Violation"""
    options, victims = KINDS[kind]
    store = programs.work / f"zombie-{number}"
    words = programs.words(store, *options)
    first = programs.start(words, log=f"{store.name}-first.log")
    everyone = set()
    try:
        wait_for("checkpoint", lambda: checkpoints(store) or first.poll() is not None)
        time.sleep(dice.uniform(0, 0.4) * reference.seconds)
        stopped = [p for p in victims(first.pid) if alive(p)]
        everyone |= set(tree(first.pid))
        for pid in stopped:
            send(pid, signal.SIGSTOP)
        held = list(store.glob("cells/*/*/journal-*"))  # by those that sleep now
        memory = Memory(store)
        second = programs.start(words, log=f"{store.name}-second.log")
        done = dice.random() < 0.5
        if done:
            code = wait(second, what="the successor")
        else:
            wait_for("take-over", lambda: second.poll() is not None or
                     len(list(store.glob("cells/*/*/journal-*"))) > len(held))
            time.sleep(dice.uniform(0, 0.3) * reference.seconds)
        everyone |= set(tree(second.pid))
        before = old_rows(store, held) if stopped and kind != "supervisor alone" else {}
        for pid in stopped:
            send(pid, signal.SIGCONT)
        if not done:
            code = wait(second, what="the successor")
        if code != 0:
            raise Violation(f"the successor ended with {code}: {programs.said(store.name + '-second.log')[-300:]}")
        code = wait(first, what="the one that was suspended")
        if code != 0:
            raise Violation(f"the zombie ended with {code}: {programs.said(store.name + '-first.log')[-300:]}")
        # In its own journal, which nobody reads any more, it may write until its next look at the lease.
        rows = 0
        for file, n in before.items():
            lost = any(other.name > file.name for other in file.parent.glob("journal-*"))
            rows += journal(file.read_bytes())[1] - n if lost else 0
        memory.judge()
        read_apart(store)
        reference.judge(store)
        return done, rows
    except Violation:
        kill_all(p for p in everyone | set(tree(first.pid)) if alive(p))
        raise


def zombie(options):
    programs = Programs(options.build, options.work, steps=1500, every=50, lease=LEASE)
    reference = Reference(programs)
    tallies = {kind: [0, 0, 0, 0, 0, 0] for kind in KINDS if options.only in kind}
    kinds, started = list(tallies), time.time()

    def trial(number):
        kind = kinds[number % len(kinds)]
        dice = random.Random(f"{options.seed}/{number}")
        try:
            return kind, event(programs, reference, kind, number, dice), None
        except (Violation, OSError) as problem:
            return kind, None, problem

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for number, (kind, end, problem) in enumerate(pool.map(trial, range(options.events))):
            tally = tallies[kind]
            tally[0] += 1
            store = options.work / f"zombie-{number}"
            if problem:
                tally[5] += 1
                tally[4] += "second result" in str(problem)
                print(f"VIOLATION event {number}, seed {options.seed}: {kind}: {problem}", flush=True)
                options.keep_store(store)
            else:
                tally[1] += not end[0]
                tally[2] += end[0]
                tally[3] += end[1]
            shutil.rmtree(store, ignore_errors=True)
    rows = [[kind, *tally] for kind, tally in tallies.items()]
    table(HEAD, [*rows, ["all", *[sum(r[i] for r in rows) for i in range(1, len(HEAD))]]])
    print(f"{options.events} events in {time.time() - started:.0f} s, resources.lease = {LEASE} s, seed {options.seed}")
    return sum(r[-1] for r in rows)
