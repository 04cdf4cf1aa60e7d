"""Facts about the machine that go with a measurement, and the check that it is quiet enough."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

ISA_LIMITS: dict[str, dict[str, str]] = {
    "avx512": {"DEPTHGRID_ISA": "avx512"},
    "avx2": {
        "DEPTHGRID_ISA": "avx2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2", "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    },
    "base": {
        "DEPTHGRID_ISA": "base", "ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41", "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
    },
}  # fmt: skip
"""Variables under which depthgrid, LibTorch, MKL, oneDNN and XLA use nothing above an instruction set (core/base/isa.cpp
has the same). torch.compile's code follows ATEN_CPU_CAPABILITY."""

MAX_PRESSURE = 10.0
PATIENCE_SECONDS = 90.0


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
        "isa": os.environ.get("DEPTHGRID_ISA", "best"),
        "cores": len(os.sched_getaffinity(0)),
        "load_average": os.getloadavg(),
        "pressure": pressure(),
        "kernel": platform.release(),
        "program": version.splitlines()[0] if version else "unknown",
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in ("torch", "jax", "numpy")},
    }


def lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
