#!/usr/bin/env python3
"""Can a linear rule tell the sign of the control signal from the states, and at which depth?

    .venv/bin/python scripts/signal_probe.py STORE CELL… [--signal U,…] [--sequences N] [--json]

Measures the states of N sequences of the probe set under the signal and under its negative (`depthgrid probe --control`,
kept beside the cell's result in float32), takes every other sequence from one of the two, and fits a rule to the first
half of them: least squares on the sign, of the states' mean over tokens. The second half judges it. Two rules at each
depth, one of the state H_l and one of its distance from the start, H_l − H_0, every channel by its own spread; of a test
sequence a rule is right or not: share of right ones with Wilson's interval of 95 %, beside that of the greater class.
H_0 does not depend on the signal, so at depth 0 a rule can only be right by chance: a share outside chance there would
say that the test sees what it should not.
Needs h5py and numpy (requirements-analysis.txt).
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import subprocess
import sys
from typing import Any

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUANTILE = 1.959963984540054  # of the normal distribution, for 95 %
Array = np.ndarray[Any, np.dtype[np.float64]]


def states_under(given: argparse.Namespace, cell: str, signal: list[float]) -> tuple[Array, Array]:
    """Means over tokens, (depth, sequence, channel), and the depth-times."""
    command = [str(given.program), "probe", given.store, "--cell", cell, "--probe", "trajectory", "--json",
               "--control=" + ",".join(map(repr, signal))]  # fmt: skip
    leaves = {"set.sequences": given.sequences, "trajectory.state_sequences": given.sequences,
              "trajectory.state_dtype": "f32", "trajectory.max_bytes": 10**12}  # fmt: skip
    for leaf, value in leaves.items():
        command += ["--set", f"probes.{leaf}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    (found,) = json.loads(done.stdout)["cells"]
    with h5py.File(found["states"][-1]) as file:
        kept = file["state"]
        pooled = np.stack([kept[edge].mean(1, dtype=np.float64) for edge in range(kept.shape[0])])
        return pooled, file["depth_edge_time"][:]


def wilson(right: int, tests: int) -> tuple[float, float]:
    """Source: Wilson 1927, without correction for continuity."""
    share, square = right / tests, QUANTILE**2 / tests
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    return middle - half, middle + half


def judged(features: Array, signs: Array) -> tuple[int, int]:
    """Right answers of the rule of the first half about the second, and how many there are."""
    half = len(signs) // 2
    spread = features[:half].std(0)
    moving = spread > 1e-12 * max(float(np.abs(features).max()), 1e-300)
    scaled = (features[:, moving] - features[:half, moving].mean(0)) / spread[moving]
    scaled = np.concatenate([scaled, np.ones((len(signs), 1))], 1)
    rule = np.linalg.lstsq(scaled[:half], signs[:half], rcond=None)[0]
    return int((np.where(scaled[half:] @ rule > 0, 1, -1) == signs[half:]).sum()), len(signs) - half


def measured(given: argparse.Namespace, cell: str, signal: list[float]) -> list[dict[str, Any]]:
    up, times = states_under(given, cell, signal)
    down, _ = states_under(given, cell, [-u for u in signal])
    draw = np.random.default_rng(0).permutation(up.shape[1])  # neighbours in the text are not alternated
    signs = np.where(np.arange(len(draw)) % 2 == 0, 1.0, -1.0)
    mixed = np.where(signs[None, :, None] > 0, up[:, draw], down[:, draw])
    most = max(float((signs[len(signs) // 2 :] > 0).mean()), float((signs[len(signs) // 2 :] < 0).mean()))
    rows = []
    for edge, state in enumerate(mixed):
        row: dict[str, Any] = {"cell": cell, "depth": edge, "time": float(times[edge]), "majority": most}
        row["moved"] = float(np.linalg.norm(up[edge] - down[edge]) / np.linalg.norm(up[edge]))
        for name, features in (("state", state), ("displacement", state - mixed[0])):
            right, tests = judged(features, signs)
            low, high = wilson(right, tests)
            row[name] = {"share": right / tests, "low": low, "high": high, "tests": tests,
                         "chance": low <= most <= high}  # fmt: skip
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("cell", nargs="+", help="an id, an alias, or the beginning of one")
    parser.add_argument("--signal", help="a number for each axis (default: 1, and 0 on the others)")
    parser.add_argument("--axes", type=int, default=4, help="of that default")
    parser.add_argument("--sequences", type=int, default=1024, help="half of them judge (default 1024)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/depthgrid")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    signal = [float(u) for u in given.signal.split(",")] if given.signal else [1.0] + [0.0] * (given.axes - 1)
    rows = [row for cell in given.cell for row in measured(given, cell, signal)]
    if given.json:
        print(json.dumps({"schema": 1, "signal": signal, "sequences": given.sequences, "depths": rows}))
        return
    print("cell              depth  time   moved    right by the state        by the displacement       n")
    for row in rows:
        said = [f"{row[k]['share']:.3f} [{row[k]['low']:.3f}, {row[k]['high']:.3f}]{'  ' if row[k]['chance'] else ' *'}"
                for k in ("state", "displacement")]  # fmt: skip
        print(f"{row['cell']:<18}{row['depth']:>4}  {row['time']:.3f}  {row['moved']:.5f}  {said[0]:<26}{said[1]:<26}"
              f"{row['state']['tests']}")  # fmt: skip
    print(f"* not by chance: the greater class has {rows[0]['majority']:.3f}")


if __name__ == "__main__":
    main()
