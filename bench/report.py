"""Ratios with their spread, as a Markdown table and as JSON."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One contender of a case. Ratios are (its time) / (depthgrid's time of the same round): above 1 we are faster."""

    name: str
    values: list[float]
    ratios: list[float]
    loss_difference: float | None
    ready_seconds: float | None = None  # start, compilation and the first steps
    refused: str = ""  # why there are no times

    @property
    def verdict(self) -> str:
        """Undecided where the rounds disagree about which is faster."""
        if self.refused:
            return "not run"
        if not self.ratios:
            return "reference"
        if min(self.ratios) > 1.0:
            return "faster"
        return "slower" if max(self.ratios) < 1.0 else "undecided"


def rows(
    times: dict[str, list[float]],
    ours: list[str],
    differences: dict[str, float],
    ready: dict[str, float] | None = None,
) -> list[Row]:
    """Compares all contenders with depthgrid's best way (smallest median) of using the same cores."""
    best = min(ours, key=lambda name: statistics.median(times[name]))
    return [
        Row(
            name,
            values,
            [] if name == best else [v / o for v, o in zip(values, times[best], strict=True)],
            differences.get(name),
            (ready or {}).get(name),
        )
        for name, values in times.items()
    ]


def span(values: list[float]) -> str:
    return f"{statistics.median(values):.3g} ({min(values):.3g}..{max(values):.3g})"


def markdown(title: str, unit: str, table: list[Row]) -> str:
    """Section with one table: median (min..max) over the rounds."""
    columns = f"| program | {unit} | ratio to depthgrid | depthgrid is | losses differ by | s until ready |"
    text = [f"### {title}", "", columns, "|---|---|---|---|---|---|"]
    for row in table:
        if row.refused:
            text.append(f"| {row.name} | not run: {row.refused} |  |  |  |  |")
            continue
        ratio = span(row.ratios) if row.ratios else "1"
        loss = "" if row.loss_difference is None else f"{row.loss_difference:.1e}"
        ready = "" if row.ready_seconds is None else f"{row.ready_seconds:.0f}"
        text.append(f"| {row.name} | {span(row.values)} | {ratio} | {row.verdict} | {loss} | {ready} |")
    return "\n".join(text) + "\n"


def machine_line(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {machine[k]}" for k in ("python", "torch", "jax", "numpy") if k in machine)
    load = " ".join(f"{x:.2f}" for x in machine["load_average"])
    return (
        f"{machine['cpu']} ({', '.join(machine['features'])}), {machine['cores']} cores, load {load}; "
        f"kernels for {machine['instruction_sets']}; "
        f"{machine['program']}; {versions}. Median (min..max) over interleaved rounds.\n"
    )


def as_json(title: str, unit: str, table: list[Row]) -> dict[str, Any]:
    return {"case": title, "unit": unit, "rows": [{**asdict(r), "verdict": r.verdict} for r in table]}
