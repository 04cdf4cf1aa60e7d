"""What a supervisor takes for itself: share of a core and memory, with 1,000 cells.

    python3 bench/supervisor_cost.py [--build build/release] [--cells 1000] [--each] [--force]

Trains configs/tiny.yaml with 100 steps a cell, in one launch at a time of many jobs (the planner's choice), or with
--each in a process for each job of one cell. Its processor time is that of /proc/PID/stat without its children's, its
memory the largest that it had (VmHWM), both until its last child has ended: then it packs the results, once, which is
told apart. The machine should be at rest.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile
import time

import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--cells", type=int, default=1000)
    options.add_argument("--each", action="store_true")
    options.add_argument("--force", action="store_true", help="measure on a busy machine, too")
    options = options.parse_args()
    machine.require_quiet(force=options.force)
    each = ["--set", "packing.fuse=off", "--set", "packing.cells_per_launch=1"] if options.each else []
    with tempfile.TemporaryDirectory() as folder:
        words = [options.build / "depthgrid", "run", ROOT / "configs/tiny.yaml", "--set", f"seeds={options.cells // 2}",
                 "--set", "train.steps=100", *each, "-j", "1", "--store", pathlib.Path(folder) / "store", "-q"]
        begun = time.monotonic()
        run = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        beside = whole = (0, 0, 0.0)  # ticks, KiB, seconds
        while run.poll() is None:
            stat = pathlib.Path(f"/proc/{run.pid}/stat").read_text().rsplit(")", 1)[1].split()
            status = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{run.pid}/status").read_text())
            whole = (int(stat[11]) + int(stat[12]), int(status[1]) if status else whole[1], time.monotonic() - begun)
            if pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text():
                beside = whole
            time.sleep(0.2)
    hertz = os.sysconf("SC_CLK_TCK")
    ticks, peak, seconds = beside
    print(f"{options.cells} cells in {seconds:.0f} s, exit code {run.returncode}: the supervisor took "
          f"{ticks / hertz:.2f} s of a core, {100 * ticks / hertz / seconds:.2f} %, and {peak / 1024:.0f} MiB; "
          f"packing at the end {(whole[0] - ticks) / hertz:.2f} s and {whole[1] / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
