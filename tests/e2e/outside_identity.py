#!/usr/bin/env python3
"""Leaves outside a cell's identity: trains with two values of each, and compares tokens, losses and weights to the bit.

outside_identity.py BUILD_FOLDER SOURCE_FOLDER [--sample] [--only LEAF,...] [--update]

Every leaf of the classes Execution and Observation is tried with the value below (or one made from its type), in a
sweep that reads it. What must be equal: the cells' ids, the digest of the training tokens, every loss and norm of
training, every evaluation, the digest of the final weights. --sample takes a few, for every change; --update writes
the table into docs/identity.md, which otherwise must agree.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

FIGURES = ["train_loss", "train_grad_norm", "train_update_norm", "eval_loss", "final_loss", "weights_sha256",
           "tokens_sha256"]
SAMPLE = ["checkpoint.every", "data.path", "eval.batch_size", "packing.fuse", "probes.trajectory.schedule",
          "resources.threads", "train.deterministic"]
TEXT = "".join(f"line {i} of a text, {i * i % 97} words further on\n" for i in range(400))

# What a leaf is tried with where its type does not say; NAME stands for a copy of a file at another place.
VALUES = {
    "data.path": "copies/text.txt", "data.valid": "copies/valid.txt", "data.test": "copies/test.txt",
    "data.cache": "copies/tokens", "data.tokenizer_path": "copies/gpt2-bpe",
    "checkpoint.every": "2", "checkpoint.every_seconds": "1", "checkpoint.keep_at": "[3]", "eval.batch_size": "3",
    "resources.device": "cpu", "resources.gpus": "0", "resources.threads": "2", "resources.max_cell_time": "100:00:00",
    "resources.mem": "64G", "resources.time": "0:30:00", "resources.launcher": "mpirun", "resources.bind": "none",
    "packing.fuse": "off", "packing.cells_per_launch": "1",
    "budget.wall_time": "10:00:00", "budget.gpu_hours": "100", "budget.store_bytes": "64G",
    "slurm.exclude": "[n9]", "slurm.extra": "[--exclusive]", "slurm.mail_type": "END",
    "probes.trajectory.max_bytes": "1000000", "probes.trajectory.token_classes": "[all, first]",
    "probes.lyapunov.variants": "[raw, relative]", "probes.solver.methods": "[rk4]",
}
# Leaves that one process on this machine cannot vary, or whose two values are meant to differ: why, and what then
# guards the comparison.
EXCEPT = {
    "model.preset": "stands for the leaves that it fills in, which are identity",
    "resources.ranks_per_job": "sums are in another order: losses differ in their last digits; a cell never goes on "
                               "with another number, unless `resources.allow_inexact` says so, which its events keep",
    "resources.shard_optimizer": "needs a team: `e2e.teams` compares the bits",
}
# The sweeps: each with what must be added so that a leaf is read.
PLAIN = "model: {family: standard, d_model: 16, n_layers: 2, n_heads: 2}\n"
CASES = {
    "plain": PLAIN,
    "gates": "model: {family: time_indexed, d_model: 16, n_layers: 2, n_heads: 2}\n",
    "routing": "model: {family: tdt, d_model: 16, n_layers: 4, n_heads: 2}\n",
    "ssm": "model: {family: time_indexed, mixer: ssm, d_model: 16, n_layers: 2, n_heads: 2}\n",
    "flow": "model: {family: hybrid_ode, d_model: 16, n_layers: 4, n_heads: 2}\n",
}
CASE_OF = {"probes.gates": "gates", "probes.routing": "routing", "probes.ssm": "ssm", "probes.solver": "flow"}
NEEDS = {  # settings under which a leaf is read
    "probes.trajectory": ["probes.trajectory.state_sequences=2"],
    "probes.lyapunov": ["probes.lyapunov.schedule=end"],
    "probes.solver": ["probes.solver.schedule=end"],
    "data.tokenizer_path": ["data.tokenizer=gpt2", "data.seq_len=16"],
    "data.valid": ["data.valid=valid.txt"], "data.test": ["data.test=test.txt", "eval.final_splits=[valid, test]"],
}


def sweep_text(case):
    return (f"name: {case}\ndata: {{corpus: file, path: text.txt, tokenizer: byte, seq_len: 16}}\n{CASES[case]}"
            "train: {steps: 6, batch_size: 4}\neval: {every: 3, windows: 4, final_windows: 8}\n"
            "checkpoint: {every: 3}\nseeds: 2\n")


def other_value(leaf):
    """A value that differs from the default, by the leaf's type."""
    if leaf["path"] in VALUES:
        return VALUES[leaf["path"]]
    kind, default = leaf["type"], leaf["default"]
    if kind == "bool":
        return "false" if default else "true"
    if kind.startswith("word"):
        return next(word for word in leaf["words"] if word != default)
    if kind == "schedule":
        return "{every: 2}" if default in ("off", "end", None) else "off"
    if kind.startswith("int"):
        low, high = (int(part) for part in leaf["range"].split(",")[0].split("…"))
        base = default if isinstance(default, int) and not isinstance(default, bool) else max(low, 1)
        return str(base + 1 if base + 1 <= high else base - 1)
    if kind == "real":
        return repr(float(default) / 2 if default else 0.5)
    return "tried"


def needs_of(path):
    longest = max((key for key in NEEDS if path.startswith(key)), key=len, default=None)
    return list(NEEDS[longest]) if longest else []


class Trial:
    def __init__(self, build, folder):
        self.depthgrid, self.folder = str(Path(build).resolve() / "depthgrid"), Path(folder)
        for place in (self.folder, self.folder / "copies"):
            place.mkdir(exist_ok=True)
            for name, text in (("text", TEXT), ("valid", TEXT[:3000]), ("test", TEXT[3000:6000])):
                (place / f"{name}.txt").write_text(text.upper() if name != "text" else text)
        bpe = Path(os.environ.get("DEPTHGRID_DATA", "data")) / "gpt2-bpe"
        self.has_bpe = bpe.is_dir()
        if self.has_bpe:
            shutil.copytree(bpe, self.folder / "copies/gpt2-bpe", dirs_exist_ok=True)
        for case in CASES:
            (self.folder / f"{case}.yaml").write_text(sweep_text(case))
        self.trained = {}

    def figures(self, case, settings):
        """{variable: bytes} of a store that is trained with these settings; made once."""
        key = (case, *settings)
        if key in self.trained:
            return self.trained[key]
        store = f"store-{len(self.trained)}"
        words = [word for setting in settings for word in ("--set", setting)]
        run = subprocess.run([self.depthgrid, "run", f"{case}.yaml", *words, "--store", store, "-q"], cwd=self.folder,
                             capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{case} {settings}: exit code {run.returncode}\n{run.stderr}")
        out = {"ids": sorted(path.name for path in (self.folder / store / "cells").glob("*/*"))}
        with h5py.File(self.folder / store / "sweep.h5") as file:
            for name in FIGURES:
                if name in file:
                    values = file[name][()]
                    out[name] = values.tobytes() if values.dtype != object else values.tolist()
        assert {"final_loss", "weights_sha256", "train_loss"} <= set(out), out.keys()
        self.trained[key] = out
        return out

    def differing(self, leaf):
        """Names of what differs between the default and the other value of a leaf."""
        path = leaf["path"]
        case = next((CASE_OF[part] for part in CASE_OF if path.startswith(part)), "plain")
        base = needs_of(path)
        before = self.figures(case, base)
        kept = [setting for setting in base if setting.split("=")[0] != path]
        after = self.figures(case, [*kept, f"{path}={other_value(leaf)}"])
        return [name for name in before if before[name] != after.get(name)]


def row(leaf, differing):
    path, tried = leaf["path"], other_value(leaf)
    if path in EXCEPT:
        return f"| `{path}` | {leaf['class']} | – | {EXCEPT[path]} |"
    what = "equal to the bit" if not differing else "differ: " + ", ".join(differing)
    return f"| `{path}` | {leaf['class']} | `{tried}` | {what} |"


def main():
    options = argparse.ArgumentParser()
    for name in ("build", "sources"):
        options.add_argument(name)
    options.add_argument("--sample", action="store_true")
    options.add_argument("--only")
    options.add_argument("--update", action="store_true")
    given = options.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    schema = json.loads(subprocess.run([f"{given.build}/depthgrid", "schema", "--json"], capture_output=True,
                                       check=True).stdout)
    outside = [leaf for leaf in schema["leaves"] if leaf["class"] in ("Execution", "Observation")]
    known = {leaf["path"] for leaf in outside}
    stale = [path for path in [*VALUES, *EXCEPT, *SAMPLE] if path not in known]
    if stale:
        sys.exit(f"these are no leaves outside the identity: {', '.join(stale)}")
    names = given.only.split(",") if given.only else SAMPLE if given.sample else None
    chosen = [leaf for leaf in outside if names is None or leaf["path"] in names]
    rows, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="depthgrid-identity-") as folder:
        trial = Trial(given.build, folder)
        for leaf in chosen:
            if leaf["path"] == "data.tokenizer_path" and not trial.has_bpe:
                print("data.tokenizer_path: skipped, no gpt2-bpe")
                continue
            differing = [] if leaf["path"] in EXCEPT else trial.differing(leaf)
            rows.append(row(leaf, differing))
            if differing:
                wrong.append(rows[-1])
                print(rows[-1], flush=True)
    if wrong:
        sys.exit(f"{len(wrong)} leaves outside the identity change figures")
    page = Path(given.sources) / "docs/identity.md"
    if given.update:
        head, _, old = page.read_text().partition("| leaf |")
        kept = {line.split("`")[1]: line for line in [*old.splitlines(), *rows] if line.startswith("| `")}
        body = [kept[leaf["path"]] for leaf in outside if leaf["path"] in kept]
        page.write_text(head + "\n".join(["| leaf | class | tried beside the default | figures |", "|---|---|---|---|",
                                          *body]) + "\n")
    text = page.read_text()
    missing = [leaf["path"] for leaf in outside if f"| `{leaf['path']}` |" not in text]
    if missing:
        sys.exit(f"{page} lacks {', '.join(missing)}: run this with --update")
    print(f"outside_identity: ok, {len(rows)} leaves")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
