"""A request to stop is never lost: sixty instants of the first three seconds of a run, forty of them of a
supervisor.

usage: instants.py BUILD_FOLDER SOURCE_FOLDER
"""

import concurrent.futures
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

INSTANTS = 60
SPAN = 3.0  # s
SIGNALS = (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
VERBS = (("supervise", "-j", "2"), ("run", "-j", "2"), ("run",))
STOPPED = 75


def owns_its_signals(child):
    """Waits until the program is loaded and has begun: what comes before is the loader's."""
    for _ in range(10000):
        for line in pathlib.Path(f"/proc/{child.pid}/status").read_text().splitlines():
            if line.startswith("SigBlk:") and int(line.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1:
                return
        time.sleep(0.001)


def stopped_at(build, sweep, folder, number):
    """Starts one, asks it to stop at its instant; returns what is wrong, or nothing."""
    store = folder / f"store-{number}"
    verb, asked = VERBS[number % len(VERBS)], SIGNALS[number // len(VERBS) % len(SIGNALS)]
    command = [build / "depthgrid", verb[0], sweep, "--store", store, "--yes", "-q", *verb[1:]]
    command += ["--set", "train.steps=1000000"]
    verb = " ".join(verb)
    instant = SPAN * number / INSTANTS
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    owns_its_signals(child)
    time.sleep(instant)
    child.send_signal(asked)
    try:
        _, said = child.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        child.kill()
        return f"{verb}: {asked.name} after {instant:.2f} s was lost"
    shutil.rmtree(store, ignore_errors=True)
    if child.returncode == STOPPED:
        return None
    return f"{verb}: {asked.name} after {instant:.2f} s ended it with {child.returncode}: {said}"


def main():
    build, sources = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    sweep = sources / "configs" / "tiny.yaml"
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(4) as pool:
        folder = pathlib.Path(scratch)
        numbers = range(INSTANTS)
        problems = pool.map(lambda n: stopped_at(build, sweep, folder, n), numbers)
        found = [problem for problem in problems if problem]
    print(f"{INSTANTS - len(found)} of {INSTANTS} stopped with {STOPPED}")
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
