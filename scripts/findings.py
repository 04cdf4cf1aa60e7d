#!/usr/bin/env python3
"""The tables of docs/findings.md: from runs to per-seed figures, and from these to the page.

    .venv/bin/python scripts/findings.py list                       each finding, its commands, the time they take
    .venv/bin/python scripts/findings.py make NAME [--store DIR]…   runs them (or takes these stores, one per command)
                                                                    and writes docs/findings/NAME.csv
    .venv/bin/python scripts/findings.py tables                     writes the tables of docs/findings.md anew
    .venv/bin/python scripts/findings.py check                      fails if the page is not what the CSVs give

docs/findings/NAME.csv has one row per cell that has finished, in the order of the sweep file, and of the columns only
those that findings_list.py names; a seed that some arm lacks is left out of all, unless it says that arms were given
different numbers. Tables of the page stand between `<!-- table NAME/TABLE -->` and `<!-- end -->`; every statistic in
them is from `depthgrid compare … --json` of docs/findings/NAME.csv, or of what this script subtracts by seed where a
question is about two figures of one arm, or about how much more one arm gains than another; it rounds, corrects by
Holm where a table has a column of it, and nothing else. `make` needs h5py where elements of matrices are kept, the rest needs Python alone. --build: the folder of the
program.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import fnmatch
import io
import itertools
import pathlib
import re
import shlex
import subprocess
import sys

import findings_kinds
import findings_list
import findings_page

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/findings.md"
FOLDER = ROOT / "docs/findings"
FIXED = ["id", "arm", "seed", "baseline", "status", "parameters"]
MARKED = re.compile(r"(<!-- table (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

Row = dict[str, str]


def output(words: list[str]) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def elements(folder: pathlib.Path, finding: findings_kinds.Finding) -> Row:
    """The elements of variables with further axes that are kept, as VARIABLE.LABEL.LABEL; of probes the first and the
    last measurement. What `depthgrid probe` has measured goes before the run's own."""
    found: Row = {}
    for file in [folder / "result.h5", *sorted(folder.glob("probe-*.h5"))]:
        found |= elements_in(file, finding)
    for name, (above, below) in finding.ratios.items():
        for element in fnmatch.filter(list(found), f"{above}.*"):
            place = element.removeprefix(above)
            found[name + place] = repr(float(found[element]) / float(found[below + place]))
    return found


def elements_in(file: pathlib.Path, finding: findings_kinds.Finding) -> Row:
    import h5py

    found: Row = {}
    with h5py.File(file) as result:
        for name in sorted({pattern.split(".")[0] for pattern in finding.elements} & set(result)):
            variable = result[name]
            values, labels = variable[0], []
            for place, axis in enumerate(variable.dims[i][0] for i in range(1, variable.ndim)):
                if axis.name == "/probe_step":
                    values = values.take([0, -1], place)
                    labels.append(["first", "last"])
                    continue
                text = axis[:].astype(str) if axis.dtype.kind in "iu" else axis.asstr()[:]
                labels.append([finding.axes.get(label, label).replace(" ", "_") for label in text])
            for path, number in zip(itertools.product(*labels), values.ravel().tolist(), strict=True):
                element = ".".join((name, *path))
                kept = any(fnmatch.fnmatchcase(element, pattern) for pattern in finding.elements)
                if kept and number == number:
                    found[element] = repr(number)
    return found


def rows_of(program: str, run: findings_kinds.Run, finding: findings_kinds.Finding, store: str) -> list[Row]:
    """The finished cells of one store, without the seeds that some arm lacks."""
    text = output([program, "results", *run.options(), *(["--store", store] if store else []), "--csv"])
    rows: list[Row] = list(csv.DictReader(io.StringIO(text)))
    if run.only:
        ids = output([program, "results", *run.options(), *(["--store", store] if store else []), "--csv",
                      "--filter", run.only, "--columns", "id"]).split()  # fmt: skip
        rows = [row for row in rows if row["id"] in ids]
    arms = {row["arm"] for row in rows}
    seeds = {row["seed"] for row in rows}
    done = [row for row in rows if row["status"] in ("completed", "diverged")]
    whole = {seed for seed in seeds if {row["arm"] for row in done if row["seed"] == seed} == arms}
    if finding.seeds_differ:
        whole = seeds
    if not whole:
        sys.exit(f"{store or run.config}: no seed is complete in all of its {len(arms)} arms")
    if seeds - whole:
        print(f"{store or run.config}: left out, as some arm lacks them: seeds {', '.join(sorted(seeds - whole))}",
              file=sys.stderr)  # fmt: skip
    rows = [row for row in done if row["seed"] in whole]
    place = pathlib.Path(store or run.store or f"results/{name_of(run.config)}")
    for row in rows:
        if finding.elements:
            row.update(elements(ROOT / place / "cells" / row["id"][:2] / row["id"], finding))
        row.update(run.factors)
    return rows


def name_of(config: str) -> str:
    """The name of a sweep, after which its store is called."""
    found = re.search(r"^name: *(\S+)", (ROOT / config).read_text(), re.MULTILINE)
    assert found, config
    return found[1]


def probe_words(run: findings_kinds.Run) -> list[list[str]]:
    """What is measured in the run's store when it has ended."""
    store = run.store or f"results/{name_of(run.config)}"
    return [["depthgrid", "probe", store, *shlex.split(options)] for options in run.probes]


def commands_of(finding: findings_kinds.Finding) -> list[str]:
    return [command for run in finding.runs for command in (run.command(), *map(shlex.join, probe_words(run)))]


def kept_columns(rows: list[Row], finding: findings_kinds.Finding) -> list[str]:
    """What every table has, factors, then metrics that some row has; elements in the order of their axes."""
    names = dict.fromkeys(name for row in rows for name, text in row.items() if text)
    patterns = [*finding.metrics, *finding.elements, *(f"{ratio}.*" for ratio in finding.ratios)]
    metrics = [n for n in names if any(fnmatch.fnmatchcase(n, pattern) for pattern in patterns)]
    return [*FIXED, *finding.factors, *metrics]


def make(program: str, name: str, stores: list[str]) -> None:
    finding = findings_list.FINDINGS[name]
    if stores and len(stores) != len(finding.runs):
        sys.exit(f"{name} has {len(finding.runs)} runs: as many --store were expected, in their order")
    rows: list[Row] = []
    for run, store in itertools.zip_longest(finding.runs, stores, fillvalue=""):
        if not store:
            print(run.command(), file=sys.stderr)
            words = run.command_words()
            if subprocess.run([program, *words[1:]], cwd=ROOT, check=False).returncode:
                sys.exit(f"{name}: this run has not ended well; the same command goes on with it")
            for words in probe_words(run):
                output([program, *words[1:]])
        rows += rows_of(program, run, finding, store or run.store)
    columns = kept_columns(rows, finding)
    text = io.StringIO()
    table = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.csv").write_text(text.getvalue())
    print(f"docs/findings/{name}.csv: {len(rows)} cells, {len(columns)} columns")


def page(program: str) -> tuple[str, str]:
    """docs/findings.md as it is, and as the CSVs give it."""
    old = PAGE.read_text()
    tables = findings_list.TABLES
    there = [found[2] for found in MARKED.finditer(old)]
    if sorted(there) != sorted(tables):
        sys.exit(f"{PAGE.relative_to(ROOT)} has the tables {', '.join(there)}; expected once: {', '.join(tables)}")
    comparisons = findings_page.Comparisons(program, ROOT)
    return old, MARKED.sub(lambda m: m[1] + findings_page.text_of(tables[m[2]], comparisons) + m[4], old)


def commands_not_shown(text: str) -> list[str]:
    """Commands of findings whose tables are made, that the page does not show as they are."""
    plain = " ".join(text.replace("\\\n", " ").split())
    made = {name for table in findings_list.TABLES.values() for name in table.finding.split("+")}
    commands = [one for name in sorted(made) for one in commands_of(findings_list.FINDINGS[name])]
    return [command for command in commands if command not in plain]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    verbs = options.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list")
    making = verbs.add_parser("make")
    making.add_argument("name", choices=findings_list.FINDINGS)
    making.add_argument("--store", action="append", default=[])
    verbs.add_parser("tables")
    verbs.add_parser("check")
    asked = options.parse_args()
    program = str(asked.build.resolve() / "depthgrid")
    if asked.verb == "list":
        for name, finding in findings_list.FINDINGS.items():
            made = "" if (FOLDER / f"{name}.csv").exists() else "; not made yet"
            print(f"{name} (time: {finding.time}{made})", *commands_of(finding), sep="\n  ")
    elif asked.verb == "make":
        make(program, asked.name, [str(pathlib.Path(store).resolve()) for store in asked.store])
    else:
        old, new = page(program)
        if asked.verb == "tables":
            PAGE.write_text(new)
        elif old != new:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "the page", "the CSVs"))
            sys.exit("docs/findings.md is not what docs/findings/*.csv give: scripts/findings.py tables")
        for command in commands_not_shown(new):
            sys.exit(f"docs/findings.md does not show this command as it is: {command}")


if __name__ == "__main__":
    main()
