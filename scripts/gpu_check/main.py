"""Command line of gpu_check.sh."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import correct
import fast
from bundle import Bundle
from rows import Table

PARTS = {"correct": (correct.rows, 380), "fast": (fast.rows, 370)}
ARCHITECTURES = ("8.0", "8.6", "8.7", "8.9", "9.0")
"""Compute capabilities that code for sm_80 and sm_90 runs on."""


def cannot(text: str) -> None:
    print(f"gpu_check: {text}", file=sys.stderr)
    sys.exit(78)


def torch_folder() -> Path:
    """lib of torch 2.11.0."""
    named = os.environ.get("TORCH_LIB")
    spec = None if named else importlib.util.find_spec("torch")
    if not named and (spec is None or not spec.submodule_search_locations):
        cannot(f"{sys.executable} has no torch: name a Python with torch 2.11.0 (PYTHON=...), or its lib (TORCH_LIB=...)")
    folder = Path(named) if named else Path(spec.submodule_search_locations[0]) / "lib"  # type: ignore[union-attr, index]
    version = folder.parent / "version.py"
    found = re.search(r"__version__ = '([^']*)'", version.read_text()) if version.exists() else None
    if not (folder / "libtorch_cpu.so").exists() or (found and not found[1].startswith("2.11.0")):
        cannot(f"torch in {folder} is {found[1] if found else 'not there'}; this bundle was built with 2.11.0")
    return folder


def check_architecture() -> None:
    """Ends the program on a card for which there is no code; a card that does not answer is a row's matter."""
    try:
        done = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"],
            capture_output=True, text=True, check=False, timeout=20,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return
    for line in done.stdout.splitlines():
        name, _, capability = line.rpartition(", ")
        if done.returncode == 0 and capability not in ARCHITECTURES:
            cannot(f"{name} has compute capability {capability}; kernels are built for {', '.join(ARCHITECTURES)}")


def main() -> int:
    p = argparse.ArgumentParser(prog="gpu_check.sh", description="A quarter of an hour on a machine with a GPU.")
    p.add_argument("part", choices=PARTS)
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: a rehearsal at small sizes")
    p.add_argument("--out", type=Path, default=Path("gpu_check"), help="folder of the results")
    p.add_argument("--deadline", type=float, help="seconds after which everything stops")
    p.add_argument("--only", default="", help="rows whose names contain this, and those that they need")
    options = p.parse_args()
    here = Path(__file__).resolve().parent.parent
    if not (here / "gpu_test").exists():
        cannot(f"no test programs in {here}: pack them with scripts/bundle.sh --tests")
    torch = torch_folder()
    if options.device == "cuda":
        check_architecture()
    make_rows, seconds = PARTS[options.part]
    seconds = options.deadline or seconds
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gpu_check-") as folder:
        table = Table(options.part, options.out.resolve(), seconds, Path(folder))
        rows = make_rows(Bundle(here, torch, options.device, table))
        planned = sum(row.planned for row in rows)
        table.say(
            f"gpu_check {options.part}, device {options.device}, {os.uname().nodename}, "
            f"{time.strftime('%FT%TZ', time.gmtime())}: {len(rows)} rows, {planned:.0f} s planned, {seconds:.0f} s at most"
        )
        needed = {row.needs for row in rows if options.only in row.name}
        bad = table.run([row for row in rows if options.only in row.name or row.name in needed])
        table.say(f"{bad} failed or not reached, {time.monotonic() - began:.0f} s; results in {options.out.resolve()}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
