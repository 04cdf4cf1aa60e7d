"""What the page of a large sweep costs: `depthgrid report`, bytes, paint times in headless Chromium.

    python3 bench/page/cost.py STORE... [--rounds 3] [--build build/release] [--force]

Stores are those of fabricate.py, or real ones. A page is made and loaded cold `rounds` times; medians are shown.
"data": the curves of single cells, as JSON, and the numbers below pictures, as CSV; "rest": everything else.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import machine  # noqa: E402

import paint  # noqa: E402

COLUMNS = [
    "store",
    "report, s",
    "memory, MiB",
    "page, MB",
    "data, MB",
    "rest, MB",
    "first paint, ms",
    "drawn, ms",
    "complaints",
]


def report(program, store, page):
    """@return seconds and the largest memory in MiB."""
    begun = time.monotonic()
    run = subprocess.Popen([program, "report", store, "-o", page], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    if status != 0:
        raise SystemExit(f"depthgrid report {store} has failed")
    return time.monotonic() - begun, used.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("stores", type=Path, nargs="+")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--build", type=Path, default=HERE.parent.parent / "build/release")
    options.add_argument("--force", action="store_true", help="measure on a busy machine, too")
    options = options.parse_args()
    machine.require_quiet(force=options.force)
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        for store in options.stores:
            made = [report(options.build / "depthgrid", store, page) for _ in range(options.rounds)]
            text = page.read_text()
            data = sum(
                len(part.encode())
                for part in re.findall(
                    r'(?:<script type="application/json"|<pre tabindex="0">).*?</(?:script|pre)>', text, re.S
                )
            )
            size = len(text.encode())
            loads = [paint.load(page.as_uri(), "0") for _ in range(options.rounds)]
            seconds, memory = map(statistics.median, zip(*made, strict=True))
            first, drawn = map(statistics.median, zip(*(load[:2] for load in loads), strict=True))
            row = [
                store.name,
                f"{seconds:.1f}",
                f"{memory:.0f}",
                *(f"{n / 1e6:.1f}" for n in (size, data, size - data)),
            ]
            row += [f"{first:.0f}", f"{drawn:.0f}", str(sum(len(load[3]) for load in loads))]
            print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
