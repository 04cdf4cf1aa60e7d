"""Comparison of the results of two stores, from `depthgrid results STORE --json`."""

from __future__ import annotations

from typing import Any

CHOOSE = ("tdt", "mod")
"""Families that choose tokens: rounding decides between two whose scores are nearly equal."""

Cells = dict[str, dict[str, Any]]


def by_id(results: dict[str, Any]) -> Cells:
    return {cell["id"]: cell for cell in results["cells"]}


def close(one: Cells, two: Cells, tolerances: dict[str, float]) -> tuple[bool, float, list[str]]:
    """Whether every cell's loss is as near as its precision (or `choice`) allows; the largest distance; a table."""
    good, largest, lines = one.keys() == two.keys() and bool(one), 0.0, []
    for key in one.keys() & two.keys():
        cell, other = one[key], two[key]
        precision = cell["overrides"].get("train.precision", "fp32")
        allowed = tolerances["choice" if cell["overrides"].get("model.family") in CHOOSE else precision]
        a, b = (c["metrics"].get("train_loss", float("nan")) for c in (cell, other))
        apart = abs(a - b) / max(abs(a), 1e-300)
        fine = cell["status"] == other["status"] == "completed" and apart <= allowed
        good &= fine
        largest = max(largest, apart) if apart == apart else float("nan")
        lines.append(f"{cell['alias']:<46} {a:10.6f} {b:10.6f} {apart:9.1e} of {allowed:.0e}{'' if fine else '  FAILED'}")
    return good, largest, sorted(lines)


def numbers(cell: dict[str, Any]) -> dict[str, Any]:
    """All that does not depend on circumstances: times, memory, other costs, steps that a resumed run repeats."""
    circumstances = ("cost_", "replayed_steps")
    return {k: v for k, v in cell["metrics"].items() if not k.startswith(circumstances) and "time" not in k}


def differences(one: Cells, two: Cells) -> list[str]:
    """What is not the same to the bit."""
    lines = [] if one and one.keys() == two.keys() else ["the stores have other cells"]
    for key in one.keys() & two.keys():
        a, b = numbers(one[key]), numbers(two[key])
        # As text: a NaN is then equal to itself.
        differ = [k for k in sorted(a.keys() | b.keys()) if repr(a.get(k)) != repr(b.get(k))]
        if differ or not a:
            lines.append(f"{one[key]['alias']}: {', '.join(differ[:6]) or 'all'} differ")
    return lines
