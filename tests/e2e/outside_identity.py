#!/usr/bin/env python3
"""Leaves outside a cell's identity: trains with two values of each, and compares tokens, losses and weights to the bit.

outside_identity.py BUILD_FOLDER SOURCE_FOLDER [--sample] [--only LEAF,...] [--update]

Every leaf of the classes Execution and Observation is tried with the value below (or one made from its type), in every
model family if training, evaluation or probes may read it, else in one. What must be equal: the cells' ids, the digest
of the training tokens, every figure of training and of every evaluation, the digest of the final weights; and, unless
the leaf is of a probe, what probes measured. --sample takes a few leaves, for every change; --update writes the table
into docs/identity.md, which otherwise must agree.
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

# Variables by the beginnings of their names: of training and evaluation; and of probes.
FIGURES = ("train_", "eval_", "final_", "best_", "weights_sha256", "tokens_sha256", "data_order_digest", "split_",
           "stopped_at", "diverged_at", "residual_scale", "n_parameters")
PROBED = ("tdt_", "tpn_", "router_", "routing_", "trajectory_", "gradient_", "attention_", "logit_lens_", "weight_",
          "gate_", "lyapunov_", "ssm_", "solver_")
TIMES = ("train_wall_time", "eval_step")
SAMPLE = ["checkpoint.every", "data.path", "eval.batch_size", "packing.fuse", "probes.trajectory.schedule",
          "resources.threads", "train.deterministic"]
TEXT = "".join(f"line {i} of a text, {i * i % 97} words further on\n" for i in range(400))

# What a leaf is tried with where its type does not say; NAME stands for a copy of a file at another place.
VALUES = {
    "data.path": "copies/text.md", "data.valid": "copies/valid.md", "data.test": "copies/test.md",
    "data.cache": "copies/tokens", "data.tokenizer_path": "copies/gpt2-bpe",
    "checkpoint.every": "2", "checkpoint.every_seconds": "1", "checkpoint.keep_at": "[3]", "eval.batch_size": "3",
    "resources.threads": "2", "resources.max_cell_time": "100:00:00",
    "resources.mem": "64G", "resources.time": "0:30:00", "resources.launcher": "mpirun", "resources.bind": "none",
    "packing.fuse": "off", "packing.cells_per_launch": "1",
    "budget.wall_time": "10:00:00", "budget.gpu_hours": "100", "budget.store_bytes": "64G",
    "slurm.exclude": "[n9]", "slurm.extra": "[--exclusive]", "slurm.mail_type": "END",
    "probes.trajectory.max_bytes": "1000000", "probes.trajectory.token_classes": "[all, first]",
    "probes.lyapunov.variants": "[raw, relative]", "probes.solver.methods": "[rk4]",
}
# Leaves that one process on this machine cannot vary, or whose two values are meant to differ: why, and what then
# guards the comparison.
MARKED = "losses differ in their last digits; `results` says so below a table that has cells of both kinds"
EXCEPT = {
    "model.preset": "stands for the leaves that it fills in, which are identity",
    "resources.device": "a GPU adds in another order than a CPU: " + MARKED,
    "resources.gpus": "which cards there are for ranks: as `resources.ranks_per_job`",
    "resources.ranks_per_job": "sums are in another order: " + MARKED + "; a cell never goes on with another number, "
                               "unless `resources.allow_inexact` says so, which its events keep",
    "resources.shard_optimizer": "needs a team: `e2e.teams` compares the bits",
    "train.control.labels.file": "its bytes are identity: `e2e.label_sources` moves the file",
    "train.control.labels.scores": "its bytes are identity: `e2e.label_sources` moves the file",
    "train.control.labels.timeout": "ends a program that is late, and then nothing is trained: `e2e.label_sources`",
    "train.steering.file": "its bytes are identity, as those of labels are",
}
# Leaves with which sums are in another order: what was equal must be, and the rest nearly.
INEXACT = {"resources.threads": "products of small matrices are divided among threads: where they are, " + MARKED}
NOTES = {"train.deterministic": "; that is on a CPU, where it has no effect: on a GPU sums may be in another order each "
                                "time, and " + MARKED.replace("losses", "losses then"),
         "data.test": "; another text there is refused: a store keeps the digest of the first"}
EXACT = ("tokens_sha256", "data_order_digest", "eval_tokens", "final_tokens", "split_", "n_parameters", "train_tokens")
# The models, and the one in which the leaves of some probes are read. A leaf that starts with one of EVERYWHERE is
# tried in all of them, any other in the first.
SIZE = "d_model: 16, n_layers: 4, n_heads: 2"
CASES = {family: f"model: {{family: {family}, {SIZE}}}\n"
         for family in ("standard", "time_indexed", "tong", "hybrid_ode", "tdt", "mod")}
CASES["ssm"] = f"model: {{family: time_indexed, mixer: ssm, {SIZE}}}\n"
CASE_OF = {"probes.gates": "time_indexed", "probes.routing": "tdt", "probes.ssm": "ssm", "probes.solver": "hybrid_ode"}
EVERYWHERE = ("train.", "eval.", "checkpoint.", "packing.", "resources.threads", "resources.allow_inexact", "data.path",
              "data.cache", "probes.set.", "probes.trajectory.schedule", "probes.gradients.schedule", "probes.lyapunov.schedule",
              "probes.gradients.norms",
              "audit.overfit_batch")
NEEDS = {  # settings under which a leaf is read
    "probes.trajectory": ["probes.trajectory.state_sequences=2"],
    "probes.lyapunov": ["probes.lyapunov.schedule=end"],
    "probes.solver": ["probes.solver.schedule=end"],
    "data.tokenizer_path": ["data.tokenizer=gpt2", "data.seq_len=16"],
    "data.valid": ["data.valid=valid.txt"], "data.test": ["data.test=test.txt", "eval.final_splits=[valid, test]"],
}


def sweep_text(case):
    modes = ", mode_windows: 7" if case in ("tdt", "mod") else ""
    return (f"name: {case}\ndata: {{corpus: file, path: text.txt, tokenizer: byte, seq_len: 16}}\n{CASES[case]}"
            f"train: {{steps: 6, batch_size: 4}}\neval: {{every: 3, windows: 7, final_windows: 9{modes}}}\n"
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


def cases_of(path):
    """The models in which a leaf is tried."""
    own = next((CASE_OF[part] for part in CASE_OF if path.startswith(part)), None)
    return [own] if own else list(CASES) if path.startswith(EVERYWHERE) else ["standard"]


class Trial:
    def __init__(self, build, folder):
        self.depthgrid, self.folder = str(Path(build).resolve() / "depthgrid"), Path(folder)
        for place, suffix in ((self.folder, "txt"), (self.folder / "copies", "md")):
            place.mkdir(exist_ok=True)
            for name, text in (("text", TEXT), ("valid", TEXT[:3000]), ("test", TEXT[3000:6000])):
                (place / f"{name}.{suffix}").write_text(text.upper() if name != "text" else text)
        bpe = Path(os.environ.get("DEPTHGRID_DATA", "data")) / "gpt2-bpe"
        self.has_bpe = bpe.is_dir()
        if self.has_bpe:
            shutil.copytree(bpe, self.folder / "copies/gpt2-bpe", dirs_exist_ok=True)
        for case in CASES:
            (self.folder / f"{case}.yaml").write_text(sweep_text(case))
        self.trained = {}

    def figures(self, case, settings):
        """{variable: values} of a store that is trained with these settings; made once."""
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
            for name in file:
                if name.startswith((*FIGURES, *PROBED)) and not name.startswith(TIMES):
                    out[name] = file[name][()]
        assert {"final_loss", "weights_sha256", "train_loss", "eval_loss"} <= set(out), out.keys()
        shutil.rmtree(self.folder / store)
        self.trained[key] = out
        return out

    def differing(self, leaf, case):
        """Names of what differs, in one model, between the default and the other value of a leaf."""
        path = leaf["path"]
        base = needs_of(path)
        before = self.figures(case, base)
        kept = [setting for setting in base if setting.split("=")[0] != path]
        after = self.figures(case, [*kept, f"{path}={other_value(leaf)}"])
        probes = () if path.startswith("probes.") else PROBED
        names = [name for name in before if name == "ids" or name.startswith((*FIGURES, *probes))]
        inexact = path in INEXACT
        return [name for name in names if not same(before[name], after.get(name), inexact and not name.startswith(EXACT))]


def same(one, other, nearly):
    """To the bit; or nearly: numbers of the same size, and digests of weights whatever they are."""
    if other is None or isinstance(one, list) or one.shape != other.shape:
        return isinstance(one, list) and one == other
    if one.dtype == object:
        return nearly or one.tolist() == other.tolist()
    if not nearly:
        return one.tobytes() == other.tobytes()
    return bool(np.all(np.isclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True)))


def row(leaf, differing):
    path, tried = leaf["path"], other_value(leaf)
    if path in EXCEPT:
        return f"| `{path}` | {leaf['class']} | – | – | {EXCEPT[path]} |"
    what = INEXACT.get(path, "equal to the bit" + NOTES.get(path, ""))
    if differing:
        what = "differ: " + ", ".join(differing)
    cases = cases_of(path)
    return f"| `{path}` | {leaf['class']} | `{tried}` | {'all' if len(cases) > 1 else cases[0]} | {what} |"


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
    stale = [path for path in [*VALUES, *EXCEPT, *INEXACT, *NOTES, *SAMPLE] if path not in known]
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
            differing = []
            cases = [] if leaf["path"] in EXCEPT else cases_of(leaf["path"])
            for case in ["tdt"] if given.sample and "tdt" in cases else cases:
                differing += [f"{name} ({case})" for name in trial.differing(leaf, case)]
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
        page.write_text(head + "\n".join(["| leaf | class | tried beside the default | models | figures |", "|---|---|---|---|---|",
                                          *body]) + "\n")
    text = page.read_text()
    missing = [leaf["path"] for leaf in outside if f"| `{leaf['path']}` |" not in text]
    if missing:
        sys.exit(f"{page} lacks {', '.join(missing)}: run this with --update")
    print(f"outside_identity: ok, {len(rows)} leaves")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
