"""chaos.py disk: a full disk at many levels and at every publication of a file; then there is space again."""
import re
import shutil
import subprocess
import threading
import time

from chaos_store import Programs, Reference, Violation, read_apart, table

MESSAGE = re.compile(r"(/\S+|\S+/\S+): .*needed \d+ bytes, free (\d+)")
WATCHED = ("-j", "2", "--set", "packing.fuse=2", "--set", "packing.cells_per_launch=1", "--set", "retry.disk_wait=0")
PATIENT = (*WATCHED[:-1], "retry.disk_wait=60")  # a try every 2 s
FULL_FOR = 4  # s
FULL = 73
DISK_BYTES = 8 << 20
HEAD = ["disk", "trials", "exit 73 with path, needed and free bytes", "enough space", "HDF5 files opened afterwards",
        "went on to the same bits", "violations"]


class Disk:
    """A tmpfs of its own."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)],
                              capture_output=True, check=False)
        self.mounted = done.returncode == 0

    def leave(self, free):
        """Fills the disk but for so many bytes."""
        block = 4096
        with open(self.folder / "filler", "wb", buffering=0) as filler:
            taken = shutil.disk_usage(self.folder).free - free
            try:
                for _ in range(max(0, taken // block)):
                    filler.write(b"\1" * block)
            except OSError:
                pass

    def empty(self):
        (self.folder / "filler").unlink()

    def close(self):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)


def judge_full(code, said, store):
    """@return  True if the disk was full. @raises Violation unless it was said well."""
    if code == 0:
        return False
    if code != FULL:
        raise Violation(f"exit code {code}, not {FULL}: {said[-400:]}")
    if not MESSAGE.search(said):
        raise Violation(f"no path, needed and free bytes: {said[-400:]}")
    if re.search(r"terminate called|INTERNAL|std::|\.cpp:\d+", said):
        raise Violation(f"raw text: {said[-400:]}")
    return True


def trial(programs, reference, words, store, tally, fault="", free=lambda: None):
    """One command that meets a full disk, and the same command with space."""
    tally[0] += 1
    code, said = programs.run(words, fault)
    full = judge_full(code, said, store)
    tally[1 if full else 2] += 1
    if store.exists():
        tally[3] += read_apart(store)
    free()
    code, said = programs.run(words)
    if code != 0:
        raise Violation(f"with space again it ended with {code}: {said[-400:]}")
    tally[3] += read_apart(store)
    reference.judge(store)
    tally[4] += 1
    return full


def levels(options, programs, reference, ways, tallies):
    needed = sum(f.stat().st_blocks * 512 for f in reference.store.rglob("*")) * 1.15
    print(f"an undisturbed store takes {needed / 1.15 / 1e6:.2f} MB")
    for level in range(options.levels):
        name, words_of = ways[level % len(ways)]
        tally = tallies[f"{name}, tmpfs filled to a level"]
        disk = Disk(options.work / f"disk-{level}")
        store = disk.folder / "store"
        try:
            if not disk.mounted:
                print("skipped: mounting a small disk needs privileges")
                return False
            disk.leave(int(needed * level / options.levels))
            trial(programs, reference, words_of(store), store, tally, free=disk.empty)
        except Violation as problem:
            tally[5] += 1
            print(f"VIOLATION level {level} of {options.levels}, {name}: {problem}", flush=True)
            options.keep_store(store)
        finally:
            disk.close()
    return True


def waits(options, programs, reference):
    """A supervisor meets the full disk, waits, and goes on by itself when there is space. @return  violations."""
    rows = [["supervisor that waits (`retry.disk_wait`)", 0, 0, 0, 0]]
    for level in range(max(3, options.levels // 10)):
        disk = Disk(options.work / f"patient-{level}")
        store = disk.folder / "store"
        try:
            if not disk.mounted:
                return 0
            needed = sum(f.stat().st_blocks * 512 for f in reference.store.rglob("*"))
            disk.leave(int(needed * (0.5 + 0.4 * level / max(3, options.levels // 10))))
            space = threading.Timer(FULL_FOR, disk.empty)
            space.start()
            code, said = programs.run(programs.words(store, *PATIENT))
            space.join()
            rows[0][1] += 1
            if "the store's disk is full" in said:
                rows[0][2] += 1
            elif code == FULL:
                continue  # the disk was full before the first launch
            if code != 0:
                raise Violation(f"it ended with {code}: {said[-600:]}")
            read_apart(store)
            reference.judge(store)
            rows[0][3] += 1
        except Violation as problem:
            rows[0][4] += 1
            print(f"VIOLATION level {level}, a supervisor that waits: {problem}", flush=True)
            options.keep_store(store)
        finally:
            disk.close()
    table(["disk", "trials", "waited", "ended with the same bits by itself", "violations"], rows)
    if rows[0][1] and not rows[0][2]:
        print("VIOLATION no supervisor has waited")
        return rows[0][4] + 1
    return rows[0][4]


def publications(options, programs, reference, ways, tallies):
    """The n-th publication of each process fails, and all that follow, until n is beyond the last one."""
    for name, words_of in ways:
        tally = tallies[f"{name}, full from the n-th publication on"]
        n, full = 0, True
        while full and n < (options.publications or 10000):
            n += 1
            store = options.work / "published"
            try:
                full = trial(programs, reference, words_of(store), store, tally, fault=f"enospc@{n}")
            except Violation as problem:
                tally[5] += 1
                print(f"VIOLATION publication {n}, {name}: {problem}", flush=True)
                options.keep_store(store)
            shutil.rmtree(store, ignore_errors=True)
        print(f"{name}: " + ("every publication up to the last one" if not full else f"the first {n} publications"))


def disk(options):
    programs = Programs(options.build, options.work, steps=60, every=20, seeds=1)
    reference = Reference(programs)
    ways = [("plain run", lambda store: programs.words(store)),
            ("supervisor (`-j 2`)", lambda store: programs.words(store, *WATCHED))]
    tallies = {f"{name}, {kind}": [0, 0, 0, 0, 0, 0] for kind in
               ("tmpfs filled to a level", "full from the n-th publication on") for name, _ in ways}
    started = time.time()
    if not options.only or options.only == "levels":
        levels(options, programs, reference, ways, tallies)
    if not options.only or options.only == "publications":
        publications(options, programs, reference, ways, tallies)
    rows = [[name, *tally] for name, tally in tallies.items() if tally[0]]
    table(HEAD, [*rows, ["all", *[sum(r[i] for r in rows) for i in range(1, len(HEAD))]]])
    print(f"{sum(r[1] for r in rows)} trials in {time.time() - started:.0f} s")
    patient = waits(options, programs, reference) if options.only != "publications" else 0
    return patient + sum(r[-1] for r in rows)
