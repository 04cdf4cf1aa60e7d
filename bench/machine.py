"""Facts about the machine that go with a measurement, and the check that it is quiet enough."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

ISA_LIMITS: dict[str, dict[str, str]] = {
    "avx512": {"DEPTHGRID_ISA": "avx512"},
    "avx2": {
        "DEPTHGRID_ISA": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    },
    "base": {
        "DEPTHGRID_ISA": "base", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
}  # fmt: skip
"""Variables under which depthgrid, LibTorch, oneDNN and MKL use nothing above an instruction set (core/base/isa.cpp has
the same). torch.compile takes its vectors from ATEN_CPU_CAPABILITY, but lets the C++ compiler use all of the processor for
the rest. MKL heeds its variable on Intel processors only; on AMD's it has kernels for AVX2 whatever the request."""
XLA_ISA = {"avx2": "AVX2", "base": "SSE4_2"}

MAX_PRESSURE = 10.0
PATIENCE_SECONDS = 90.0


def limit(isa: str | None, out: Path) -> None:
    """Holds this process and its children to an instruction set; none: to no one.

    What torch.compile makes goes to a cache of this comparison in `out`: the common one does not ask for the instruction
    set (code compiled under another limit crashes), and a program that was killed leaves a library there that is empty.
    """
    cache = out / "inductor"
    shutil.rmtree(cache, ignore_errors=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(cache)
    os.environ.update(ISA_LIMITS.get(isa or "", {}))
    if isa in XLA_ISA:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={XLA_ISA[isa]}".strip()


def pressure() -> float:
    """Share of the last 10 s, in percent, in which some task waited for a CPU; 0 where the kernel does not say."""
    try:
        line = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except OSError:
        return 0.0
    return float(line.split("avg10=")[1].split()[0])


def require_quiet(*, force: bool) -> None:
    """Waits a while for a quiet machine; ends the program if it stays busy."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not force and pressure() > MAX_PRESSURE:
        if time.monotonic() > deadline:
            raise SystemExit(
                f"the machine is busy: /proc/pressure/cpu some avg10 = {pressure():.0f} > {MAX_PRESSURE:.0f}."
                " Stop what else runs, or measure anyway with --force."
            )
        time.sleep(2)


def describe(program: Path) -> dict[str, Any]:
    """CPU, load and versions."""
    cpu = next((x.split(":")[1].strip() for x in lines("/proc/cpuinfo") if x.startswith("model name")), "unknown")
    flags = next((x.split() for x in lines("/proc/cpuinfo") if x.startswith("flags")), [])
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {
        "cpu": cpu,
        "features": [f for f in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if f in flags],
        "instruction_sets": instruction_sets(program),
        "cores": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg(),
        "pressure": pressure(),
        "kernel": platform.release(),
        "program": version.splitlines()[0] if version else "unknown",
        "python": platform.python_version(),
        **versions(),
    }


def versions() -> dict[str, str]:
    """Of the packages that are there."""
    out = {}
    for name in ("torch", "jax", "numpy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            out[name] = importlib.metadata.version(name)
    return out


def instruction_sets(program: Path) -> str:
    """Those of depthgrid's kernels and of LibTorch, under the limits in force."""
    command = [program, "bench", "journal", "--steps", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    return str(json.loads(done.stdout)["instruction_sets"])


def lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
