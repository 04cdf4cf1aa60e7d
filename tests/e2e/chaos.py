#!/usr/bin/env python3
"""Kills, suspends, fills the disk and makes cells fail, with the real programs; judges what is left.

    .venv/bin/python tests/e2e/chaos.py kill --trials 60 [--seed 1] [--build build/release] [--keep DIR]

Every mode prints a markdown table for docs/reliability.md and exits with 1 if a promise was not kept. `--keep DIR`
keeps the stores of failed trials.
"""
import argparse
import datetime
import os
import pathlib
import platform
import shutil
import signal
import sys
import tempfile

import chaos_cells
import chaos_disk
import chaos_kill
import chaos_slurm
import chaos_store
import chaos_zombie

MODES = {
    "kill": (chaos_kill.kill, "SIGKILL of ranks, launchers, supervisors, workers, Slurm's daemons"),
    "zombie": (chaos_zombie.zombie, "SIGSTOP for longer than the lease, a take-over, SIGCONT"),
    "disk": (chaos_disk.disk, "a full disk at every level and publication"),
    "isolation": (chaos_cells.isolation, "cells that fail in eight ways beside others"),
    "detect": (chaos_cells.detect, "how soon the dead and the hanging are noticed; what a launch costs"),
    "preempt": (chaos_cells.preempt, "USR1 again and again"),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mode", choices=MODES, help="; ".join(f"{k}: {v[1]}" for k, v in MODES.items()))
    sources = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--build", type=pathlib.Path, default=sources / "build/release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the stores of failed trials")
    for name, usual in (("trials", 60), ("events", 20), ("levels", 10), ("publications", 0), ("cells", 26),
                        ("failing", 5), ("rounds", 1)):
        parser.add_argument("--" + name, type=int, default=usual)
    parser.add_argument("--only", default="", help="only kinds whose name contains this")
    options = parser.parse_args()
    options.build, options.sources = options.build.resolve(), sources
    return options


def main():
    options = arguments()
    print(f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, "
          f"{platform.machine()}, Linux {platform.release()}: {' '.join(sys.argv[1:])}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="depthgrid-chaos-", ignore_cleanup_errors=True) as folder:
        options.work = pathlib.Path(folder)

        def keep_store(store):
            if options.keep and store.exists():
                shutil.copytree(store, options.keep / store.name, symlinks=True, dirs_exist_ok=True)

        options.keep_store = keep_store
        try:
            violations = MODES[options.mode][0](options)
        finally:
            chaos_slurm.stop_all()
            chaos_store.end_sessions()
    print(f"{violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
