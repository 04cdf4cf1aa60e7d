#!/usr/bin/env python3
"""Plants faults, one at a time, into a copy of the sources, and tells which tests see them.

run.py [NAME...]          each mutant of the tables beside this file: applied, built, its tests run
run.py --whole [NAME...]  also the longer tests where a short one has seen it
run.py --list             the mutants, what each breaks and which tests are expected to see it
run.py --check [NAME...]  that each applies at one place, compiles, and names tests that there are; builds and runs nothing
run.py --text [NAME...]   the same without the compiler, and that every test has a row in parts.toml and docs/testing.md:
                          `lint.mutants`

A mutant is a row of a table here: the text `find`, which stands once in `path`, becomes `replace`; `breaks` says what no
longer holds then. Run are the tests that are expected to fail (`expect`) and those beside which it shows what one of
them alone sees (`also`); --tests REGEX runs others. Where a test of a few seconds has seen it, no longer one sees it
alone: these are left out, and kept as `left_out`. `alone = false`: the file does not compile by itself, which is the
fault; `read_by`: of an .inc, a source that reads it. The copy and its build stay in build/mutants, so that the next
mutant costs the compilation of what it touches. What was found is kept there in results.json; table.py prints it.
Exit code 1: a mutant was seen by none of the tests that were expected to, or does not build.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as xml
from pathlib import Path

import table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHORT = 15  # seconds
# By the beginning of a test's name, what must be built for it.
PROGRAMS = [
    ("storage.extension.", "extension_test"),
    (r"(core\.(base|config)|storage|sweeps|cli)\.", "host_test"),
    ("core.", "core_test"),
    ("models.", "models_test"),
    ("worker.", "worker_test"),
    ("distributed_test", "distributed_test"),
]


def mutants():
    """{name: row} of all tables."""
    found = {}
    for file in sorted(HERE.glob("*.toml")):
        for row in tomllib.loads(file.read_text()).get("mutant", []):
            row = {"also": [], "alone": True, **row}
            if row["name"] in found:
                sys.exit(f"{file.name}: '{row['name']}' is there twice")
            found[row["name"]] = row
    return found


def mutated(row, text):
    """The text with the fault. ValueError if `find` does not stand in it exactly once."""
    find, replace = row["find"], row["replace"]
    if text.count(find) != 1:
        raise ValueError(f"its text stands {text.count(find)} times in {row['path']}, not once: {find.strip()}")
    return text.replace(find, replace)


class Copy:
    """A copy of the checkout's files with a build of its own."""

    def __init__(self, folder):
        self.folder, self.src = folder, folder / "src"
        self.build = self.src / "build/release"

    def refresh(self):
        """Takes over what has changed in the checkout, and nothing else: unchanged files keep their times."""
        listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, check=True, capture_output=True).stdout.decode().split("\0")
        wanted = {name for name in names if name and (ROOT / name).is_file()}
        for name in sorted(wanted):
            self.put(name, (ROOT / name).read_bytes())
        for path in [p for p in self.src.rglob("*") if p.is_file() or p.is_symlink()]:
            name = str(path.relative_to(self.src))
            if name not in wanted and not name.startswith((".venv", "build/", ".git")):
                path.unlink()
        venv = self.src / ".venv"
        if not venv.exists():
            venv.symlink_to((ROOT / ".venv").resolve())

    def put(self, name, data):
        path = self.src / name
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        shutil.copymode(ROOT / name, path)

    def make(self, targets):
        """@return whether it builds."""
        words = [str(self.src / "scripts/build.sh"), "release", *targets]
        with (self.folder / "build.log").open("w") as log:
            return subprocess.run(words, stdout=log, stderr=subprocess.STDOUT).returncode == 0

    def test(self, regex):
        """{name: (outcome, seconds, words)} of the tests whose names match."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        words = ["ctest", "--test-dir", str(self.build), "-R", regex, "--output-junit", str(report)]
        environment = {**os.environ, "PATH": f"{self.src}/.venv/bin:{os.environ['PATH']}"}
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = {}
        for case in xml.parse(report).getroot().iter("testcase") if report.exists() else []:
            outcome = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
            said = (case.findtext("system-out") or "").strip().splitlines()
            found[case.get("name")] = (outcome, float(case.get("time")), said)
        return found


def targets_of(tests):
    out = {"depthgrid", "depthgrid-worker"} if any(re.match(r"e2e\.|worker\.|cli\.", t) for t in tests) else set()
    for test in tests:
        out |= {program for prefix, program in PROGRAMS[::-1] if re.match(prefix, test)}
        if "extension_test" in out and not test.startswith("storage.extension."):
            out.add("host_test")
    return sorted(out) or ["depthgrid"]


def first_words(said):
    """The line that says what is wrong, if one looks like that; of GoogleTest's, the test and its first place."""
    tests = [m[1] for line in said if (m := re.match(r"\[  FAILED  \] (\S+) \(", line))]
    places = [line.strip() for line in said if re.search(r"\.cpp:\d+: Failure", line)]
    if tests:
        return " at ".join(tests[:1] + places[:1]).replace("../", "")
    for line in said:
        if re.search(r"Failure|FAIL|fail|rror|differ|expected|Expected", line):
            return line.strip()[:160]
    return said[-1].strip()[:160] if said else ""


def exactly(tests):
    return "^(" + "|".join(re.escape(t) for t in tests) + ")$"


def run(copy, row, regex, whole):
    tests = row["expect"] + row["also"]
    seconds = table.seconds_in(ROOT / "build/release")
    long = [] if whole or regex else [t for t in tests if seconds.get(t, SHORT) >= SHORT]
    short = [t for t in tests if t not in long]
    source = copy.src / row["path"]
    whole = source.read_text()
    source.write_text(mutated(row, whole))
    began = time.monotonic()
    try:
        built = copy.make(targets_of(tests))
        found = copy.test(regex or exactly(short)) if built and (regex or short) else {}
        if any(f[0] == "failed" for f in found.values()):
            tests = short
        elif built and long:
            found |= copy.test(exactly(long))
    finally:
        source.write_text(whole)
    by = {outcome: sorted(n for n, f in found.items() if f[0] == outcome) for outcome in ("failed", "passed", "skipped")}
    return {
        "built": built,
        **by,
        "left_out": sorted(set(row["expect"] + row["also"]) - set(tests)),
        "not_there": sorted(set(tests) - set(found)) if built and not regex else [],
        "says": {n: first_words(found[n][2]).replace(str(copy.src) + "/", "") for n in by["failed"]},
        "seconds": round(time.monotonic() - began),
        "of": subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True,
                             text=True).stdout.strip(),
    }


def command_for(commands, path):
    """How a source is compiled alone: by its own command, or that of a neighbour (sources are joined by folder)."""
    path = {".inc": Path(path).with_suffix(".cpp"), ".hpp": Path(path).with_suffix(".cpp")}.get(Path(path).suffix, Path(path))
    folder, best = path.parent, None
    while best is None and folder != Path("."):
        for entry in commands:
            file = os.path.relpath(os.path.realpath(entry["file"]), ROOT)
            file = re.sub(r"^build/[^/]*/joined/", "", file)
            if file == str(path) or str(Path(file).parent).startswith(str(folder)):
                best = entry
                if file == str(path):
                    return entry, path
        folder = folder.parent
    return best, path


def compile_error(row, commands, scratch):
    """What the compiler says of a mutant's file alone; empty if nothing."""
    path = Path(row["path"])
    text = mutated(row, (ROOT / path).read_text())
    if path.suffix in (".sh", ".py"):
        file = scratch / path.name
        file.write_text(text)
        words = ["bash", "-n", str(file)] if path.suffix == ".sh" else [sys.executable, "-m", "py_compile", str(file)]
        return subprocess.run(words, capture_output=True, text=True).stderr
    if path.suffix not in (".cpp", ".hpp", ".inc") or not row["alone"]:
        return ""
    entry, source = command_for(commands, Path(row.get("read_by", path)))
    if entry is None or not (ROOT / source).is_file():
        return f"no command compiles {source}"
    # The tree with this one file replaced: an include of it by its path finds this one first.
    shutil.rmtree(scratch / "tree", ignore_errors=True)
    for name in {path, source}:
        (scratch / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / "tree" / name).write_text(text if name == path else (ROOT / name).read_text())
    words, skip = [], False
    for word in shlex.split(entry["command"]):
        alone = word in ("-o", "-MF", "-MT")
        if not (skip or alone or word in ("-c", "-MD") or word.endswith(("ccache", entry["file"]))):
            words.append(word)
        skip = alone
    words = [w for w in words if Path(entry["directory"], w) != Path(entry["file"])]
    words[1:1] = [f"-I{scratch / 'tree'}"]
    words += ["-fsyntax-only", str(scratch / "tree" / source)]
    return subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True).stderr


def check(chosen, build, compiles):
    commands = json.loads((build / "compile_commands.json").read_text())
    scratch = build / "mutants-check"
    scratch.mkdir(parents=True, exist_ok=True)
    # Where there is neither nvcc nor Slurm some tests are not there, or are skipped: that is no problem of the table.
    there = set(table.tests_of(build)) | {"lint.kernels", "lint.format"}
    table.members(there)
    stale = [] if compiles else table.page_problems(build)
    print("\n".join(stale), end="\n" if stale else "", flush=True)
    problems = len(stale)
    for row in chosen:
        try:
            mutated(row, (ROOT / row["path"]).read_text())
            said = compile_error(row, commands, scratch) if compiles else ""
        except (OSError, ValueError) as problem:
            said = f"{problem}. "
        if missing := sorted(set(row["expect"] + row["also"]) - there):
            said += f"no test is called {', '.join(missing)}"
        problems += bool(said)
        if said or compiles:
            print(f"{row['name']}: {said or 'applies'}", flush=True)
    shutil.rmtree(scratch)
    print(f"{len(chosen)} mutants, {problems} problems")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(usage="run.py [--list | --check | --text] [--whole] [--tests REGEX] [--folder DIR] [--build DIR] [NAME...]")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--tests", default="", help="run the tests that match in place of those of the table")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutants", help="of the copy and of results.json")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="--check, --text: whose commands and tests")
    args = parser.parse_args()
    known = mutants()
    if unknown := [n for n in args.names if n not in known]:
        sys.exit(f"no mutant is called {', '.join(unknown)}: see --list")
    chosen = [known[n] for n in args.names or known]
    if args.list:
        for row in chosen:
            print(f"{row['name']}: {row['breaks']}\n    {row['path']}; expected: {', '.join(row['expect']) or 'nobody'}")
        return 0
    if args.check or args.text:
        return check(chosen, args.build.resolve(), args.check)
    args.folder.mkdir(parents=True, exist_ok=True)
    copy = Copy(args.folder.resolve())
    copy.refresh()
    kept = args.folder / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    code = 0
    for row in chosen:
        try:
            found = results[row["name"]] = run(copy, row, args.tests, args.whole)
        except ValueError as problem:  # the sources have changed since the table was written
            print(f"{row['name']}: {problem}", flush=True)
            code = 1
            continue
        kept.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
        seen = bool(found["failed"])
        code = code if found["built"] and (seen or not row["expect"]) else 1
        verdict = "does not build" if not found["built"] else f"seen by {', '.join(found['failed']) or 'nobody'}"
        print(f"{row['name']}: {verdict} ({found['seconds']} s); passed: {', '.join(found['passed']) or '-'}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
