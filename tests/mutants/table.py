#!/usr/bin/env python3
"""The table of the tests: part, number of tests, seconds, where it runs, what it detects, what it was seen to detect alone.

table.py [BUILD]          prints it in Markdown; seconds are those of the last run of each test (LastTest.log, else the mean
                          of CTestCostData.txt) in BUILD, by default build/release
table.py --write [BUILD]  puts it into docs/testing.md
table.py --check [BUILD]  that every test of the build belongs to exactly one part of parts.toml, that each part has a test,
                          and that the page has each part with the place where it runs

What was seen comes from results.json of run.py (`--results FILE`, by default tests/mutants/results.json): a planted fault
counts for a part if the tests of no other part among those that were run failed.
"""

import argparse
import functools
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs/testing.md"
BEGIN, END = "<!-- table.py --write: begin -->", "<!-- end -->"


def tests_of(build):
    """{name: labels} of a configured build."""
    words = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    shown = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    out = {}
    for test in shown["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        out[test["name"]] = properties.get("LABELS", [])
    return out


def seconds_in(build):
    """{name: seconds} of what has been run there."""
    out, folder = {}, build / "Testing/Temporary"
    costs = folder / "CTestCostData.txt"
    for line in costs.read_text().split("---")[0].splitlines() if costs.exists() else []:
        name, runs, mean = line.split()
        if int(runs) > 0:
            out[name] = float(mean)
    log = folder / "LastTest.log"
    name = None
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        if found := re.match(r"\d+/\d+ Test: (\S+)$", line):
            name = found[1]
        elif (found := re.match(r"Test time = +([\d.]+) sec$", line)) and name:
            out[name] = float(found[1])
    return out


def long_parts():
    """[(name, pattern of tests)] of `scripts/test.sh --all NAME`."""
    text = (ROOT / "scripts/test.sh").read_text()
    return re.findall(r"^([a-z-]+) \| (\^\S+\$) \|", text, re.M)


def where(test, labels):
    if "gpu" in labels:
        return "a card"
    if "slow" not in labels:
        return "gate"
    return next((f"`--all {name}`" for name, tests in long_parts() if re.search(tests, test)), "`--all`")


@functools.cache
def parts():
    return tomllib.loads((HERE / "parts.toml").read_text())["part"]


def part_of(test):
    """Indices of the parts to which it belongs: one, if the table is right."""
    return [i for i, part in enumerate(parts()) if re.fullmatch(part["tests"], test)]


def members(tests):
    """Names of the tests of each part. Exits if one belongs to none, or to several."""
    out = [[] for _ in parts()]
    problems = []
    for test in tests:
        of = part_of(test)
        if len(of) == 1:
            out[of[0]].append(test)
        else:
            problems.append(f"{test} belongs to {len(of)} parts of tests/mutants/parts.toml, not to one")
    problems += [f"no test matches {p['tests']}" for p, names in zip(parts(), out) if not names and "gpu" not in p["tests"]
                 and "kernels" not in p["tests"]]
    if problems:
        sys.exit("\n".join(problems))
    return out


def seen_alone(results):
    """Of each part the faults that no other part among those that were run has seen; those that nobody saw."""
    out, unseen = {}, []
    for name, found in sorted(results.items()):
        failed = {part_of(test)[0] for test in found["failed"]}
        if found.get("left_out"):
            continue  # seen by a short test: whether by that part alone was not asked
        if len(failed) == 1:
            out.setdefault(failed.pop(), []).append(name)
        elif found["built"] and not failed:
            unseen.append(name)
    return out, unseen


def label_of(part):
    """The pattern as people write names."""
    text = re.sub(r"\(\?!.*?\)", "", part["tests"])  # what others have taken
    for pattern, written in (("\\.", "."), (".*", "*"), (r"\w+", "*"), ("|", ","), ("(", "{"), (")", "}")):
        text = text.replace(pattern, written)
    return f"`{text}`"


def places_of(names, labels):
    """Where the tests of a part run, as the page has it."""
    return " / ".join(sorted({where(name, labels[name]) for name in names}))


def page_problems(build):
    """Parts of which docs/testing.md says nothing, or another place than that where they run."""
    labels, page = tests_of(build), {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            page[cells[0]] = cells[3]
    out = []
    for part, names in zip(parts(), members(labels)):
        label, places = label_of(part), places_of(names, labels)
        if names and label not in page:
            out.append(f"{PAGE.name} has no row for {label}")
        elif names and page[label] != places:
            out.append(f"{PAGE.name}: {label} runs in {places}, not in {page[label]}")
    return [problem + ": tests/mutants/table.py --write" for problem in out]


def table(build, results):
    tests, seconds = tests_of(build), seconds_in(build)
    alone, unseen = seen_alone(results)
    out = ["| part | tests | seconds | runs in | what it is there for | planted faults that it alone has seen |",
           "|---|---|---|---|---|---|"]
    rows = []
    for i, (part, names) in enumerate(zip(parts(), members(tests))):
        if not names:
            continue
        known = [seconds[n] for n in names if n in seconds]
        # A test that has not been run has no seconds: its part is marked.
        time = f"{sum(known):.0f}{'' if len(known) == len(names) else ' +'}" if known else "–"
        faults = ", ".join(f"`{name}`" for name in alone.get(i, [])) or "–"
        places = places_of(names, tests)
        rows.append((sum(known), f"| {label_of(part)} | {len(names)} | {time} | {places} | {part['detects']} | {faults} |"))
    out += [row for _, row in sorted(rows, key=lambda r: -r[0])]
    gate = sum(seconds.get(n, 0) for n, labels in tests.items() if where(n, labels) == "gate")
    out += ["", f"All tests of the gate take {gate:.0f} s one after the other. `+`: some of the part were not run in that build."]
    if results:
        out += ["", f"{len(results)} faults were planted; seen by nobody: "
                + (", ".join(f"`{name}`" for name in unseen) or "none") + "."]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(usage="table.py [--write | --check] [--results FILE] [BUILD]")
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build/release")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    args = parser.parse_args()
    if args.check:
        problems = page_problems(args.build)
        print("\n".join(problems), end="\n" if problems else "")
        return 1 if problems else 0
    results = json.loads(args.results.read_text()) if args.results.exists() else {}
    text = table(args.build, results)
    if not args.write:
        print(text, end="")
        return 0
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    PAGE.write_text(page[:begin] + "\n\n" + text + "\n" + page[end:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
