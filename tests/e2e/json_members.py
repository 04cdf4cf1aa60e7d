#!/usr/bin/env python3
"""The members of every JSON answer: none is renamed, none goes away without its line here.

    .venv/bin/python tests/e2e/json_members.py --build build/release [--update]

tests/golden/json_members.txt has, for each command below in a store of two finished cells, every path of members with
the types that its values have (those of doctor depend on the machine, and so does what killed processes of others
have left in its shared memory). Members whose names are data (metrics, leaves, ids, labels) are written as *; arrays
as []. --update writes the file anew: a path that went is a broken promise to who reads the answers.
"""

import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden/json_members.txt"
SWEEP = """name: members
model: {family: time_indexed, d_model: 8, n_layers: 2, n_heads: 2, max_seq_len: 16}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 4000}, seq_len: 8}
train: {steps: 4, batch_size: 4}
eval: {every: 2, windows: 4, final_windows: 8}
checkpoint: {every: 2}
seeds: 2
parameters: {model.modulation.hidden: [4, 8]}
baseline: {model.modulation.hidden: 4}
"""
COMMANDS = [
    "validate sweep.yaml --json",
    "plan sweep.yaml --json",
    "plan sweep.yaml --store s --json",
    "audit sweep.yaml --json",
    "run sweep.yaml --store s -q",
    "status s --json",
    "status s --events --json",
    "results s --json",
    "results s --by arm --json",
    "compare s --json",
    "show hidden=4,s0 s --json",
    "diff hidden=4,s0 hidden=8,s0 s --json",
    "logs hidden=4,s0 s --json",
    "why hidden=4,s0 s --json",
    "run sweep.yaml --store w -j 1 -q",
    "status w --events --json",
    "eval hidden=4,s0 s --json",
    "probe s --probe trajectory --json",
    "generate hidden=4,s0 s --prompt 1,2,3 --tokens 3 --json",
    "export hidden=4,s0 s --out w.safetensors --json",
    "retry hidden=4,s0 s --json",
    "retry --node n1 s --json",
    "cancel hidden=4,s0 s --json",
    "pack s --json",
    "gc s --json",
    "doctor --json",
    "schema --json",
    "check decode --family standard --set model.d_model=8 --set model.n_heads=2 --set data.corpus=synthetic:markov --set data.seq_len=8",
]
# Members whose names are data: below these, one * stands for all.
DATA = re.compile(r"(^|[.\]])(metrics|facts|overrides|leaves_by_name|older_text_rules|mixed_settings|counts|other_plans|"
                  r"set|environment|libraries|library_versions|config|constant|derived|origins|labels)$")


# Members that only a machine has on which somebody else's process was killed.
MACHINE = {"shared_memory.files[]"}


def kind(value):
    if value is None:
        return "null"
    return {bool: "bool", int: "number", float: "number", str: "text"}.get(type(value), type(value).__name__)


def walk(value, path, out):
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            if path.endswith("facts.*"):  # of the environment
                continue
            data = DATA.search(path) or re.fullmatch(r"[0-9a-f]{12,16}|.*[.= ,].*", name)
            walk(inner, f"{path}.{'*' if data else name}" if path else ("*" if data else name), out)
    elif isinstance(value, list) and value:
        for inner in value:
            walk(inner, path + "[]", out)
    elif not isinstance(value, (dict, list)) and path not in MACHINE:
        out.setdefault(path, set()).add(kind(value))


def answer(build, words, folder):
    run = subprocess.run([f"{build}/depthgrid", *words.split()], cwd=folder, capture_output=True, text=True)
    out = {}
    if "--json" not in words and run.returncode == 0 and not run.stdout:
        return []
    try:
        walk(json.loads(run.stdout), "", out)
    except json.JSONDecodeError as problem:
        sys.exit(f"$ depthgrid {words}: exit code {run.returncode}, no JSON: {problem}\n{run.stdout[:400]}{run.stderr[:400]}")
    if not out:
        sys.exit(f"$ depthgrid {words}: exit code {run.returncode}, no answer\n{run.stderr[:400]}")
    types = {path: "" if words.startswith("doctor") else ": " + " ".join(sorted(kinds)) for path, kinds in out.items()}
    return [f"$ depthgrid {words}", *(f"    {path}{types[path]}" for path in sorted(out))]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--build", required=True, type=pathlib.Path)
    options.add_argument("--update", action="store_true")
    given = options.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    os.environ.pop("DEPTHGRID_ISA", None)
    with tempfile.TemporaryDirectory(prefix="depthgrid-json-") as folder:
        (pathlib.Path(folder) / "sweep.yaml").write_text(SWEEP)
        said = [line for words in COMMANDS for line in answer(given.build.resolve(), words, folder)]
    text = "\n".join(said) + "\n"
    if given.update:
        GOLDEN.write_text(text)
    expected = GOLDEN.read_text() if GOLDEN.exists() else ""
    if text != expected:
        print("\n".join(difflib.unified_diff(expected.splitlines(), said, "expected", "said", lineterm="", n=1)))
        sys.exit("members of JSON answers have changed: if that is meant, json_members.py --update, docs/cli.md, CHANGELOG.md")
    print(f"json_members: {len(COMMANDS)} answers, {len(said) - len(COMMANDS)} members")


if __name__ == "__main__":
    main()
