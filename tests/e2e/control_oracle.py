#!/usr/bin/env python3
"""A signal whose exact answer is known: a model trained under labels against the chains that wrote its text.

control_oracle.py BUILD_FOLDER SOURCE_FOLDER [--seed N] [--verbose]

Each line of the text is drawn from one of two Markov chains, chosen by a fair hidden label of +1 or -1, which a label
file tells the program. All that the evaluation of a trained signal measures can then be computed from the chains, on
the same lines: the AUC of the label's likelihood (Bayes), the nats per line that a label tells about it,
I(x; a) = E[log p(x | a) - log(p(x | +1) / 2 + p(x | -1) / 2)], and the losses with the right label, the wrong one and
none. A model that cannot infer the label along the line when it is told none (u = 0) gains a third too much.

Beside it a negative control: the same text under labels that were drawn anew, apart from the chains. Nothing is to be
measured, and what holds for the first cell must not hold here. (Labels that changed places in the training text alone
would not do: a direction learnt from nothing still tells the chains apart, this way or that.)
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

STATES = "abc"
# Of label +1, of label -1: a line's first state, and its steps (rows: the state before).
FIRST = np.array([[.20, .30, .50], [.50, .30, .20]])
CHAINS = np.array([[[.19, .29, .52], [.08, .57, .35], [.05, .14, .81]],
                   [[.41, .27, .32], [.46, .27, .27], [.53, .34, .13]]])
LETTERS = 4  # of a line, and its newline: five tokens, eight lines in a window
TRAINING, VALID = 60_000, 2_000  # lines
SWEEP = """name: oracle
model: {family: standard, d_model: 32, n_layers: 2, n_heads: 4, vocab_size: 8, positions: rope, init: {std: 0.1}, control: {names: [hidden]}}
data: {corpus: file, path: train.txt, valid: valid.txt, tokenizer: char, seq_len: 40, sampler: epoch, dev_fraction: 0}
train:
  {task: control, steps: 800, lr: 8e-3, beta2: 0.98, batch_size: 48, schedule: {kind: cosine, warmup_steps: 20},
   control: {lr_scale: 1, neutral: 0.5, onset: 0, keep: 1, noise: 0, labels: {source: file, file: label.jsonl, span: document}}}
eval: {every: null, at_start: false, splits: [valid], windows: 8}
probes: {trajectory.schedule: off, gradients.schedule: off, attention.schedule: off, logit_lens.schedule: off, weights.schedule: off}
audit: {overfit_batch: off}
seeds: 1
"""


class Lines:
    """Lines and their labels; the exact log-likelihoods of each."""

    def __init__(self, n, rng):
        self.label, self.random = rng.choice([1, -1], (2, n))
        which = (self.label < 0).astype(int)
        states, chances = [], FIRST[which]
        for _ in range(LETTERS):
            states.append((rng.random(n)[:, None] > chances.cumsum(axis=1)[:, :-1]).sum(axis=1))
            chances = CHAINS[which, states[-1]]
        self.states = np.stack(states, axis=1)
        steps = np.log(CHAINS)[:, self.states[:, :-1], self.states[:, 1:]]
        self.plus, self.minus = steps.sum(axis=2) + np.log(FIRST)[:, self.states[:, 0]]

    def text(self):
        """One empty line first, so that a window of whole lines begins behind a newline."""
        letters = np.array(list(STATES))[self.states]
        return "\n" + "".join("".join(line) + "\n" for line in letters)

    def document(self, labels):
        """The whole text as one document: a few letters alone would be found in many places."""
        width = LETTERS + 1
        spans = [{"begin": 1 + i * width, "end": 1 + (i + 1) * width, "u": {"hidden": int(label)}}
                 for i, label in enumerate(labels)]
        return json.dumps({"text": self.text(), "spans": spans})


def area(scores, positive):
    """AUC by mid-ranks."""
    values, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    n, others = positive.sum(), (~positive).sum()
    return (rank[positive].sum() - n * (n + 1) / 2) / (n * others)


def exact(lines):
    """What a model would show that knew the chains."""
    own = np.where(lines.label > 0, lines.plus, lines.minus)
    mixture = np.logaddexp(lines.plus, lines.minus) - np.log(2)
    tokens = LETTERS + 1
    return {"auc": area((lines.plus - lines.minus).round(9), lines.label > 0), "gain": (own - mixture).mean(),
            "neutral": -mixture.mean() / tokens, "matched": -own.mean() / tokens}


def figures(store):
    """What was measured on valid."""
    with h5py.File(store / "sweep.h5") as file:
        valid = [word.decode() for word in file["split"]].index("valid")
        of_split = {"gain": "gain_sentence", "error": "gain_error", "leak": "leak", "neutral": "nll_neutral",
                    "matched": "nll_matched", "mismatched": "nll_mismatched"}
        out = {name: float(file["control_" + of][0, valid]) for name, of in of_split.items()}
        return out | {"auc": float(file["control_auc"][0, 0, 0]), "entropy": float(file["control_label_entropy"][0]),
                      "sentences": int(file["control_label_sentences"][0])}


def trained(depthgrid, folder, name, lines, settings):
    """The figures of a cell under labels of this name."""
    documents = [part.document(getattr(part, name)) for part in lines]
    (folder / f"{name}.jsonl").write_text("\n".join(documents) + "\n")
    words = [word for setting in (f"train.control.labels.file={name}.jsonl", *settings) for word in ("--set", setting)]
    run = subprocess.run([depthgrid, "run", "oracle.yaml", "--store", name, "-q", *words], cwd=folder, capture_output=True,
                         text=True)
    if run.returncode != 0:
        sys.exit(f"{name}: exit code {run.returncode}\n{run.stderr}")
    shown = figures(folder / name)
    assert shown["sentences"] == TRAINING, f"{name}: {shown['sentences']} lines have a label: {run.stderr}"
    return shown


def wrong(shown, true):
    """What differs from the exact figures by more than is allowed."""
    tests = {
        f"AUC {shown['auc']:.4f}, Bayes {true['auc']:.4f}": abs(shown["auc"] - true["auc"]) <= .02,
        f"gain {shown['gain']:.4f}, I(x; a) {true['gain']:.4f}": abs(shown["gain"] / true["gain"] - 1) <= .1,
        "the gain is above the label's entropy": shown["gain"] - 1.96 * shown["error"] <= shown["entropy"],
        f"leak {shown['leak']}": shown["leak"] == 0,
        "not matched <= neutral <= mismatched": shown["matched"] <= shown["neutral"] <= shown["mismatched"],
    }
    # Below the chains' losses by chance alone. A signal that is one token late costs the matched loss .01.
    for name, margin in {"neutral": .007, "matched": .005}.items():
        above = shown[name] - true[name]
        tests[f"{name} loss {shown[name]:.4f}, of the chains {true[name]:.4f}"] = -.002 <= above <= margin
    return [what for what, holds in tests.items() if not holds]


def main():
    options = argparse.ArgumentParser()
    for name in ("build", "sources"):
        options.add_argument(name)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    rng = np.random.default_rng(given.seed)
    train, valid = Lines(TRAINING, rng), Lines(VALID, rng)
    true = exact(valid)
    assert .8 < true["auc"] < .95 and .2 < true["gain"] < .5, true
    with tempfile.TemporaryDirectory(prefix="depthgrid-oracle-") as scratch:
        folder, began = Path(scratch), time.time()
        (folder / "train.txt").write_text(train.text())
        (folder / "valid.txt").write_text(valid.text())
        (folder / "oracle.yaml").write_text(SWEEP)
        program = str(Path(given.build).resolve() / "depthgrid")
        told = trained(program, folder, "label", (train, valid), [f"seeds=[{given.seed}]"])
        random = trained(program, folder, "random", (train, valid), [f"seeds=[{given.seed}]", "train.steps=200"])
        if given.verbose:
            for name, of in (("chains", true), ("told", told), ("random", random)):
                print(name, {key: round(float(value), 4) for key, value in of.items()})
            print(f"{time.time() - began:.1f} s")
    bad = wrong(told, true)
    if bad:
        sys.exit("the chains say otherwise: " + "; ".join(bad))
    if abs(random["auc"] - .5) > .05 or abs(random["gain"]) > .03 or random["leak"] != 0:
        sys.exit(f"labels that say nothing show an effect: {random}")
    if not wrong(random, true):
        sys.exit("labels that say nothing pass for those of the chains: this test cannot fail")
    print(f"control_oracle: ok, AUC {told['auc']:.3f} (Bayes {true['auc']:.3f}), gain {told['gain']:.3f} "
          f"(exact {true['gain']:.3f}); random labels {random['auc']:.3f}, {random['gain']:.3f}")


if __name__ == "__main__":
    main()
