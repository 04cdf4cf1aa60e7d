"""Tables of docs/findings.md as Markdown. All statistics are from `depthgrid compare … --json`, and rounded here."""

from __future__ import annotations

import csv
import fnmatch
import functools
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import findings_kinds
from findings_kinds import ArmTable, Column, FactorTable, GridTable, Names, QuestionTable, SeedTable, ShareTable, Side

Json = dict[str, Any]
HALF_LEAST = 0.5  # of the last digit: a half-width that rounds to 0 is not shown


class Comparisons:
    """Answers of `depthgrid compare` about docs/findings/NAME.csv, each asked once."""

    def __init__(self, program: str, root: pathlib.Path) -> None:
        self.program, self.root = program, root
        self.of = functools.cache(self._of)
        self.rows = functools.cache(self._rows)

    def _of(
        self, finding: str, by: str, metric: str, baseline: str = "", arms: tuple[str, ...] = (), only: str = ""
    ) -> Json:
        files = [f"docs/findings/{name}.csv" for name in finding.split("+")]
        kept = only or " or ".join(f"arm = '{arm}'" for arm in arms)
        words = ["--by", by, "--metric", metric, *(["--baseline", baseline] if baseline else [])]
        return self.answer([*files, *words, *(["--filter", kept] if kept else [])])

    def answer(self, options: list[str]) -> Json:
        words = [self.program, "compare", *options, "--json"]
        done = subprocess.run(words, cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 4):  # 4: nothing to compare, which a single mean does not need
            sys.exit(f"{' '.join(words)}\n{done.stderr}")
        return json.loads(done.stdout)

    def groups(self, finding: str, by: str, metric: str, **more: Any) -> dict[str, Json]:
        """The groups of the first factor, by their names."""
        return {group["name"]: group for group in self.of(finding, by, metric, **more)["effects"][0]["groups"]}

    def _rows(self, finding: str) -> list[dict[str, str]]:
        with (self.root / f"docs/findings/{finding}.csv").open(newline="") as file:
            return list(csv.DictReader(file))


def number(value: float, digits: int, signed: bool = False) -> str:
    """With a real minus; what rounds to 0 has no sign, unless signs are asked for."""
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}") if signed or float(text) else text.replace("-", "")


def with_half(value: float, half: float | None, digits: int, signed: bool = False) -> str:
    shown = half is not None and half >= HALF_LEAST * 10**-digits
    return number(value, digits, signed) + (f" ± {half:.{digits}f}" if shown else "")


def half_of(interval: list[float] | None) -> float | None:
    return None if interval is None else (interval[1] - interval[0]) / 2


def probability(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def difference(contrast: Json | None, digits: int) -> str:
    """level − baseline ± half-width; empty of the baseline, and where there is none."""
    found = contrast and contrast["difference"]
    if not found or found["mean"] is None:
        return "refused" if contrast and contrast["refused"] else ""
    if found["sd"] == 0 and found["mean"] == 0:
        return "0 exactly"
    return with_half(found["mean"], half_of(found["interval"]), digits, signed=True)


def verdict(contrast: Json | None, digits: int) -> str:
    """As compare says it; of what is undecided, with the difference that these seeds would have shown."""
    if not contrast or not contrast["verdict"]:
        return ""
    least = contrast["detectable"]
    told = contrast["verdict"] == "undecided" and least is not None
    return contrast["verdict"] + (f" (detectable: {number(least, digits)})" if told else "")


def markdown(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines).replace("| --- ", "|---").replace("|--- |", "|---|")


def cell_of(column: Column, words: dict[str, str], finding: str, comparisons: Comparisons) -> str:
    if any(words.get(name) != word for name, word in column.where.items()):
        return ""
    metric = column.metric.format(**words)
    if column.show == "count":
        return f"{int(next(row[metric] for row in comparisons.rows(finding) if row['arm'] == words['arm'])):,}"
    groups = comparisons.groups(
        finding, "arm", metric, baseline=column.baseline.format(**words), only=column.only.format(**words)
    )
    if words["arm"] not in groups:
        return ""
    group = groups[words["arm"]]
    if column.show == "difference":
        return difference(group["contrast"], column.digits)
    found = group["all"]
    if not found["n"]:
        return ""
    half = half_of(found["interval"]) if column.show == "interval" else found["sd"]
    return with_half(found["mean"], half, column.digits)


def arm_table(table: ArmTable, comparisons: Comparisons) -> str:
    first = table.columns[0]
    rows = []
    for words, filling in table.rows:
        metric, only = first.metric.format(**filling), first.only.format(**filling)
        n = comparisons.groups(table.finding, "arm", metric, baseline="", only=only)[filling["arm"]]["all"]["n"]
        cells = [cell_of(column, dict(filling), table.finding, comparisons) for column in table.columns]
        rows.append([*words, str(n), *cells])
    return markdown([*table.titles, "n", *(column.title for column in table.columns)], rows)


def factor_table(table: FactorTable, comparisons: Comparisons) -> str:
    said = comparisons.of(table.finding, table.by, table.metric)
    effects = next(e for e in said["effects"] if e["factor"] == table.factor and e["within"] is None)
    rows = []
    for group in effects["groups"]:
        contrast = group["contrast"]
        rows.append([
            table.levels.get(group["name"], group["name"]) + (" (baseline)" if group["baseline"] else ""),
            str(group["all"]["n"]),
            with_half(group["all"]["mean"], group["all"]["sd"], table.digits),
            difference(contrast, table.digits),
            probability(contrast and contrast["holm_p"]),
            verdict(contrast, table.digits),
        ])  # fmt: skip
    return markdown([table.title, "n", "loss", "difference", "Holm p", "verdict"], rows)


def grid_table(table: GridTable, comparisons: Comparisons) -> str:
    """Rows: levels of the first factor; at each level of the second, from the tables within it."""
    said = comparisons.of(table.finding, f"{table.rows},{table.columns}", table.metric)
    within = [e for e in said["effects"] if e["factor"] == table.rows and e["within"]]
    by_head = {table.heads[e["within"].split(" = ")[1]]: {g["name"]: g for g in e["groups"]} for e in within}
    names = [group["name"] for group in within[0]["groups"]]
    rows = []
    for name in names:
        groups = [by_head[head][name] for head in table.heads.values()]
        if table.effects and groups[0]["baseline"]:
            continue
        rows.append([name] + [
            difference(g["contrast"], table.digits) if table.effects
            else with_half(g["all"]["mean"], g["all"]["sd"], table.digits) for g in groups
        ])  # fmt: skip
    return markdown([table.title, *table.heads.values()], rows)


def share_table(table: ShareTable, comparisons: Comparisons) -> str:
    said = comparisons.of(table.finding, ",".join(table.factors), table.metric)
    found = next(v for v in said["variance"] if v["b"])
    assert not found["refused"], found["refused"]
    a, b = table.factors.values()
    rows = []
    for name, key in ((a, "shares_a"), (b, "shares_b"), (f"{a} × {b}", "shares_interaction")):
        of = found[key]
        rows.append([name, number(of["eta2"], 3), number(of["omega2"], 3),
                     f"{of['f']:.2f} ({of['degrees']:.0f}, {of['error_degrees']:.0f})", probability(of["p"])])  # fmt: skip
    return markdown(["of", "η²", "ω²", "F (degrees)", "p"], rows)


def question_table(table: QuestionTable, comparisons: Comparisons) -> str:
    rows = []
    for question, arm, baseline, metric in table.rows:
        both = comparisons.groups(table.finding, "arm", metric, baseline=baseline, arms=(arm, baseline))
        contrast = both[arm]["contrast"]
        found = contrast["difference"]
        rows.append([question, f"`{arm}` − `{baseline}`", str(found["n"]), difference(contrast, table.digits),
                     probability(found["p"]), verdict(contrast, table.digits)])  # fmt: skip
    return markdown(["question", "difference", "n", "value", "p", "verdict"], rows)


def figures_of(rows: list[dict[str, str]], side: Side) -> dict[str, list[float]]:
    """By seed; of a side with two terms, their difference alone."""
    if isinstance(side, float):
        return {row["seed"]: [side] for row in rows}
    terms: list[dict[str, list[float]]] = []
    for arm, metric in side:
        of_arm = [row for row in rows if row["arm"] == arm]
        found = {row["seed"]: [float(row[name]) for name in fnmatch.filter(row, metric) if row[name]] for row in of_arm}
        terms.append({seed: figures for seed, figures in found.items() if figures})
    if len(terms) == 1:
        return terms[0]
    first, second = terms
    return {seed: [mean(first[seed]) - mean(second[seed])] for seed in first if seed in second}


def mean(figures: list[float]) -> float:
    return sum(figures) / len(figures)


Told = tuple[list[str], float | None]


def seed_cells(table: SeedTable, sides: tuple[Side, Side], where: Names, comparisons: Comparisons) -> Told:
    """n, value (p) and verdict, and p: compare reads one figure per seed and side."""
    rows = [r for r in comparisons.rows(table.finding) if all(r[leaf] == value for leaf, value in where.items())]
    both = [figures_of(rows, side) for side in sides]
    lines = [f"{arm},{seed},{mean(found)!r}\n" for arm, of in zip(("one", "other"), both, strict=True)
             for seed, found in of.items()]  # fmt: skip
    if not both[0]:
        return ["", "", "not run"], None
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "figures.csv"
        file.write_text("arm,seed,final_loss.valid\n" + "".join(lines))
        said = comparisons.answer([str(file), "--by", "arm", "--metric", "final_loss.valid", "--baseline", "other"])
    group = next(g for g in said["effects"][0]["groups"] if g["name"] == "one")
    contrast = group["contrast"]
    value = difference(contrast, table.digits)
    if isinstance(sides[1], float):
        value = with_half(group["all"]["mean"], half_of(group["all"]["interval"]), table.digits)
    every = [figure for found in both[0].values() for figure in found]
    beside = [f"{number(min(every), 2)} … {number(max(every), 2)}"] if table.ranges else []
    p = contrast["difference"]["p"]
    beside += [f"p {probability(p)}"] if p is not None else []
    if beside:
        value += f" ({'; '.join(beside)})"
    return [str(contrast["difference"]["n"]), value, verdict(contrast, table.digits)], p


def holm(found: list[float | None]) -> list[float | None]:
    """Of the tests of a family (Holm 1979)."""
    known = sorted((p, place) for place, p in enumerate(found) if p is not None)
    out: list[float | None] = [None] * len(found)
    least = 0.0
    for rank, (p, place) in enumerate(known):
        least = max(least, min(1.0, (len(known) - rank) * p))
        out[place] = least
    return out


def seed_table(table: SeedTable, comparisons: Comparisons) -> str:
    rows, found = [], []
    for question, named, one, other in table.rows:
        told = [seed_cells(table, (one, other), where, comparisons) for where in table.at.values()]
        n = dict.fromkeys(cells[0] for cells, _ in told if cells[0])
        rows.append([question, named, ", ".join(n), *(text for cells, _ in told for text in cells[1:])])
        found.append(told[0][1])
    titles = [title for at in table.at for title in (at, "verdict")]
    if table.holm:
        titles.insert(-1, "Holm p")
        for row, p in zip(rows, holm(found), strict=True):
            if row[-1] == "differs" and p is not None and p >= 0.05:
                row[-1] = "differs alone, not by Holm"
            row.insert(-1, probability(p))
    return markdown([*table.titles, "n", *titles], rows)


TEXTS = {ArmTable: arm_table, FactorTable: factor_table, GridTable: grid_table, ShareTable: share_table,
         QuestionTable: question_table, SeedTable: seed_table}  # fmt: skip


def text_of(table: findings_kinds.Table, comparisons: Comparisons) -> str:
    return TEXTS[type(table)](table, comparisons)
