#!/usr/bin/env python3
"""Where a signal comes from: a user's labels, scores and classifier, the further terms of the loss, and prompts.

label_sources.py BUILD_FOLDER SOURCE_FOLDER [--only NAME]

Each source is held to what is known apart from the program: labels that several sources tell alike give the same
weights to the bit, rates and thresholds are counted here, and a classifier writes down how often it is asked. What
fails must say where, and start nothing.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

SEGMENT = re.compile(r".*?(?:\s[.!?]\s|\n)", re.S)  # of train.control.labels.terminator: spaced
WORDS = ["stone", "river", "field", "tower", "under", "heavy", "winter", "silver", "bridge", "market"]
AUDITS = """causality declaration batch_independence parameter_count gradient_flow initial_loss overfit_batch
entropy_floor fusion scores positions training_step leaves"""
QUIET = f"""data: {{corpus: file, path: train.txt, valid: valid.txt, tokenizer: word, vocab_size: 64, seq_len: 16, dev_fraction: 0}}
eval: {{every: null, at_start: false, splits: [valid], windows: 4, final_splits: [valid], final_windows: 4}}
checkpoint: {{every: 2}}
probes: {{trajectory.schedule: off, gradients.schedule: off, attention.schedule: off, logit_lens.schedule: off, weights.schedule: off}}
audit: {{{", ".join(name + ": off" for name in AUDITS.split())}}}
"""
MODEL = "family: standard, d_model: 16, n_layers: 1, n_heads: 2"
LABELS = f"""name: labels
model: {{{MODEL}, control: {{names: [long]}}}}
train: {{task: control, steps: 6, batch_size: 8, lr: 0.01}}
seeds: 1
{QUIET}"""
ARM = "train.task: control, train.steps: 8, model.control.names: [long], model.init.from: 'arm:text', data.first_step: source"
TERMS = f"""name: terms
method: list
model: {{{MODEL}}}
train: {{batch_size: 8, lr: 0.004}}
include:
  - {{tag: text, train.steps: 4}}
  - {{tag: light, {ARM}, train.control.contrastive: 0.1, train.control.attribute: 0.03, train.control.anchor: 0.1}}
  - {{tag: heavy, {ARM}, train.control.contrastive: 0.4, train.control.attribute: 0.1, train.control.anchor: 1}}
{QUIET}"""
STEERING = f"""name: steering
model: {{{MODEL}, control: {{names: [tone]}}}}
train: {{task: steering, steps: 16, batch_size: 8, lr: 0.03, steering: {{prompts: file, file: prompts.jsonl}}}}
seeds: 1
{QUIET}"""

# Answers each question as told; every call adds to `calls` the number of questions.
CLASSIFIER = r"""
import json, os, signal, sys, time
how = sys.argv[1]
print("loading the model", file=sys.stderr, flush=True)
with open("pid", "w") as file: file.write(str(os.getpid()))
if how == "exit": sys.exit(3)
if how == "killed": os.kill(os.getpid(), signal.SIGKILL)
if how == "late": time.sleep(60)
asked = [json.loads(line) for line in sys.stdin]
with open("calls", "a") as file: file.write(f"{len(asked)}\n")
out = [{"id": one["id"], "scores": {"long": len(one["text"].split())}} for one in reversed(asked)]
if how == "wrong":  # one mistake in each of the first answers but one
    for one in out: one["scores"]["long"] = .5
    out[1]["id"], out[7]["id"] = out[0]["id"], 10 ** 6
    out[2]["scores"]["long"], out[3]["scores"]["long"], out[4]["scores"]["long"] = float("nan"), float("inf"), 1.5
    out[5]["scores"]["tone"], out[6]["scores"] = .5, {}
out = [json.dumps(one) for one in out]
if how == "wrong": out[8:10] = ["thinking ...", out[9].replace("0.5", "1e999")]
print("\n".join(out[how == "lacking":]))
"""


class Place:
    """A folder with a text, and the program in it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.planner = folder / "depthgrid"  # without a worker, which would measure what a plan costs
        shutil.copy(program, self.planner)
        draw = random.Random(1)
        for split, lines in (("train", 250), ("valid", 50)):
            text = "".join(self.line(draw, i) for i in range(lines))
            self.write(f"{split}.txt", text)
            setattr(self, split, SEGMENT.findall(text))
        builtin = STEERING.replace("{prompts: file, file: prompts.jsonl}", "{prompts: builtin}")
        for name, text in {"labels.yaml": LABELS, "terms.yaml": TERMS, "steering.yaml": STEERING,
                           "builtin.yaml": builtin, "classifier.py": CLASSIFIER}.items():
            self.write(name, text)

    @staticmethod
    def line(draw, number):
        """Sentences, some of them too short for a label; now and then a heading."""
        if number % 40 == 20:
            return f"= {' '.join(draw.choices(WORDS, k=6))} =\n"
        many = [" ".join(draw.choices(WORDS, k=draw.choice([2, 3, 6, 7, 8, 9]))) for _ in range(draw.randint(1, 3))]
        return " . ".join(many) + " .\n"

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def records(self, name, records):
        self.write(name, "\n".join(map(json.dumps, records)))

    def ran(self, *words, code=0, fault=None, ranks=None, program=None):
        """Both streams of a command; `code` None: any but 0."""
        under = [] if ranks is None else ["mpirun", "-np", str(ranks)]
        environment = dict(os.environ) | ({} if fault is None else {"DEPTHGRID_FAULT": fault})
        done = subprocess.run([*under, program or self.program, *words], cwd=self.folder, env=environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != code and (code is not None or done.returncode == 0):
            raise AssertionError(f"{words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def run(self, sweep, store, *settings, **how):
        return self.ran("run", sweep, "--store", store, "-q", *setting_words(settings), **how)

    def plan(self, sweep, *settings, store=None):
        """Ids of the cells, and how many have a result."""
        at = [] if store is None else ["--store", store]
        said = self.ran("plan", sweep, "--json", *at, *setting_words(settings), program=self.planner)
        answer = json.loads(said[:said.rindex("}") + 1])
        return [cell["id"] for cell in answer["cells"]], answer["done"]

    def of(self, store, *names):
        """Variables of a store."""
        with h5py.File(self.folder / store / "sweep.h5") as file:
            out = [file[name][()] for name in names]
        return out[0] if len(out) == 1 else out

    def calls(self):
        """How many texts each call of the classifier was asked."""
        return [int(line) for line in (self.folder / "calls").read_text().split()]

    def untouched(self, store):
        """Nothing was trained or kept."""
        kept = [file for what in ("cells/*", "tokens/*.scores", "sweep.h5", "texts/labels-*")
                for file in (self.folder / store).glob(what)]
        assert not kept, f"something was started: {kept}"


def setting_words(settings):
    return [word for setting in settings for word in ("--set", setting)]


def says(text, *parts):
    for part in parts:
        assert part in text, f"'{part}' is not in: {text}"


def has_label(sentence):
    """Neither a heading nor a few words."""
    words = sentence.split()
    return len(words) >= 5 and words[0] != "="


def digest(sentence):
    return hashlib.sha256(sentence.encode()).hexdigest()


def scored(place, score, keep=lambda number: True):
    """Records of scores of both splits."""
    return [{"sha256": digest(one), "scores": {"long": score(one)}}
            for i, one in enumerate(filter(has_label, place.train + place.valid)) if keep(i)]


def source(word, **leaves):
    return [f"train.control.labels.{leaf}={value}" for leaf, value in ({"source": word} | leaves).items()]


def asking(how, **leaves):
    return source("command", command=f"[{sys.executable}, classifier.py, {how}]", **leaves)


def same(place, a, b, *names):
    """Of all cells of two stores, to the bit."""
    for name in names:
        x, y = place.of(a, name), place.of(b, name)
        equal = (x == y).all() if x.dtype == object else np.array_equal(x, y, equal_nan=True)
        assert equal, f"{name} of {a} and {b} differ: {x}, {y}"


def killed_and_resumed(place, sweep, store, step, *settings):
    place.run(sweep, store, *settings, "retry.infrastructure=0", fault=f"kill@{step}", code=None)
    place.run(sweep, store, *settings)
    assert step - 1 in place.of(store, "attempt_first_step"), "no run went on from the last checkpoint"


def labelled_by(place, store):
    """Share of positive labels, threshold and number of sentences, of one cell."""
    names = ("rate", "threshold", "sentences")
    return [float(values.ravel()[0]) for values in place.of(store, *("control_label_" + name for name in names))]


def lengths(sentence):
    return len(sentence.split())


def sources(place):
    """Four sources that tell the same labels: the same weights. A classifier is asked once for each text."""
    own = np.array([*map(lengths, filter(has_label, place.train))])
    place.run("labels.yaml", "rules")
    place.run("labels.yaml", "asked", *asking("lengths"))
    both = [*filter(has_label, place.train + place.valid)]
    assert place.calls() == [len(both)] and len(set(both)) == len(both)
    place.records("scores.jsonl", scored(place, lengths))
    place.run("labels.yaml", "scored", *source("scores", scores="scores.jsonl"))
    documents = []
    for sentences in (place.train, place.valid):
        begin, spans = 0, []
        for one in sentences:
            rank = ((own < lengths(one)).sum() + (own == lengths(one)).sum() / 2) / own.size
            if has_label(one):
                spans.append({"begin": begin, "end": begin + len(one), "u": {"long": 2 * float(rank) - 1}})
            begin += len(one)
        documents.append({"text": "".join(sentences), "spans": spans})
    place.records("labels.jsonl", documents)
    place.run("labels.yaml", "labelled", *source("file", file="labels.jsonl"))
    for store in ("asked", "scored", "labelled"):
        same(place, "rules", store, "weights_sha256", "train_loss", "control_nll_matched", "control_gain_sentence",
             "control_signal_entropy", "control_label_sentences")
    for store in ("asked", "scored"):  # a user's number is positive above 0, a score above the median
        same(place, "rules", store, "control_auc", "control_label_rate", "control_label_threshold")
    rate, threshold, sentences = labelled_by(place, "rules")
    assert threshold == np.median(own) and np.isclose(rate, (own > np.median(own)).mean()) and sentences == own.size


def command(place):
    """No call where the answers are known; one of two ranks asks. What the user ends, ends."""
    asked = len([*filter(has_label, place.train + place.valid)])
    place.run("labels.yaml", "store", *asking("lengths"))
    assert place.calls() == [asked]
    place.run("labels.yaml", "store", *asking("lengths", map="sign"), "seeds=2")
    killed_and_resumed(place, "labels.yaml", "store", 3, *asking("lengths"), "seeds=3")
    assert place.calls() == [asked] and place.of("store", "weights_sha256").size == 5
    place.run("labels.yaml", "ranks", *asking("lengths"), ranks=2)
    assert place.calls() == [asked] * 2
    place.write("classifier.py", CLASSIFIER.replace("split())", "split()) + 1"))  # other answers, the same arguments
    said = place.run("labels.yaml", "store", *asking("lengths"), "seeds=4", "data.cache=empty", code=65)
    says(said, "texts/labels-", "another store")
    place.write("classifier.py", CLASSIFIER)
    ids, late, other = (place.plan("labels.yaml", *asking(how, timeout=s)) for how, s in (("a", 3), ("a", 7), ("b", 3)))
    assert ids == late != other

    pid = place.folder / "pid"
    pid.unlink()
    running = subprocess.Popen([place.program, "run", "labels.yaml", "--store", "ended", "-q",
                                *setting_words(asking("late"))], cwd=place.folder, stderr=subprocess.PIPE, text=True)
    while not (pid.exists() and pid.read_text()):
        assert running.poll() is None, running.stderr.read()
        time.sleep(.02)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 75 and "train.control.labels.command" in said, f"{running.returncode}: {said}"
    assert not Path(f"/proc/{pid.read_text()}").exists(), "the classifier was left behind"
    place.untouched("ended")


def failing_commands(place):
    """Each failure is one error that names the leaf, before anything is trained; nothing of it is kept."""
    def failing(*settings, code=65):
        said = place.run("labels.yaml", "store", *settings, code=code)
        says(said, "train.control.labels.command")
        assert said.count("error: ") == 1, said
        place.untouched("store")
        return said

    says(failing(*asking("exit")), "exit code 3", "loading the model")
    says(failing(*asking("killed")), "signal 9", "loading the model")
    says(failing(*asking("late", timeout=.5)), "0.5 s", "loading the model")
    says(failing(*source("command", command="[./nothing, 1]"), code=78), "./nothing", "No such file")
    said = failing(*asking("wrong", map="probability"))
    asked = place.calls()[-1]
    places = re.findall(r"^  stdout:?(\d*)", said, re.M)
    assert places == ["2", "3", "4", "5", "6", "7", "8", "9", "10", ""], said
    says(said, f"id {asked - 1} ", f"id {asked - 10} ", "NaN", "Infinity", "1.5", "[0, 1]", "'tone'", "'long'",
         "1000000", "thinking", "1e999", f"of {asked} answers", "loading the model")
    says(failing(*asking("lacking")), f"1 of {asked} answers", f"id {asked - 1}")
    place.run("labels.yaml", "store", *asking("lengths"))
    assert place.calls() == [asked] * 3, "answers of a call that failed were used"
    # What is known, of a time when any number was allowed, is asked again.
    says(place.run("labels.yaml", "store", *asking("lengths", map="probability"), code=65), "[0, 1]")


def scores(place):
    """Scores by content: what lacks one is not labelled; probabilities; files that are wrong or of other text."""
    def tone(sentence):
        return (sentence.count("s") % 5) / 4

    place.records("some.jsonl", scored(place, tone, keep=lambda number: number % 3))
    some = source("scores", scores="some.jsonl", map="probability")
    said = place.run("labels.yaml", "store", *some)
    all_of = [*filter(has_label, place.train + place.valid)]
    says(said, "train.control.labels.scores", f"{len(all_of[::3])} of {len(all_of)} ", "some.jsonl")
    own = np.array([tone(one) for i, one in enumerate(filter(has_label, place.train)) if i % 3])
    rate, threshold, sentences = labelled_by(place, "store")
    assert threshold == .5 and np.isclose(rate, (own > .5).mean()) and sentences == own.size
    share = np.unique(own, return_counts=True)[1] / own.size
    assert np.isclose(place.of("store", "control_signal_entropy")[0, 0], -(share * np.log(share)).sum(), rtol=1e-6)
    shutil.copy(place.folder / "some.jsonl", place.folder / "copy.jsonl")
    ids = place.plan("labels.yaml", *some)[0]
    assert ids == place.plan("labels.yaml", *source("scores", scores="copy.jsonl", map="probability"))[0]
    assert ids != place.plan("labels.yaml", *source("scores", scores="copy.jsonl"))[0]
    one, two = digest("one"), digest("two")
    place.records("other.jsonl", [{"sha256": one, "scores": {"long": 1}}])
    said = place.run("labels.yaml", "other", *source("scores", scores="other.jsonl"), code=65)
    says(said, "other.jsonl", "train.control.labels.terminator")
    place.untouched("other")
    place.records("wrong.jsonl", [
        {"sha256": one, "scores": {"long": .5}}, {"sha256": one, "scores": {"long": .25}},
        {"sha256": one[1:], "scores": {"long": 1}}, {"sha256": two, "scores": {"long": 1.5}},
        {"sha256": two, "scores": {"tone": 1}}, {"sha256": two}, {"sha256": one, "scores": {"long": .5}}])
    said = place.run("labels.yaml", "other", *source("scores", scores="wrong.jsonl", map="probability"), code=65)
    assert [int(line) for line in re.findall(r"wrong\.jsonl:(\d+): ", said) if line != "1"] == [2, 3, 4, 5, 6], said
    says(said, "'tone'", "1.5", "[0, 1]", "'scores'")
    place.untouched("other")


def documents(place):
    """A user's labels of documents: what they cover, what is wrong with them, and whose cells they make."""
    lines = "".join(place.train).splitlines(keepends=True)
    whole = [{"text": line, "u": {"long": (-1) ** i / 2}} for i, line in enumerate(lines[:40])]
    parts = [{"text": line, "spans": [{"begin": 0, "end": 3, "u": {"long": 1}}, {"begin": 4, "end": 6, "u": {}}]}
             for line in lines[40:60]]
    place.records("labels.jsonl", whole + parts + [{"text": "Not in it .\n", "u": {"long": 1}}, {"text": lines[60]}])
    given = source("file", file="labels.jsonl")
    said = place.run("labels.yaml", "store", *given)
    says(said, "train.control.labels.file", f"1 of {len(whole) + len(parts) + 2} ", "labels.jsonl", "Not in it")
    sentences = sum(len(SEGMENT.findall(one["text"])) for one in whole)
    assert labelled_by(place, "store")[2] == sentences + len(parts)
    place.run("labels.yaml", "document", *given, "train.control.labels.span=document")
    rate, threshold, spans_of = labelled_by(place, "document")
    assert spans_of == len(whole) + len(parts) and threshold == 0
    assert np.isclose(rate, (len(whole) / 2 + len(parts)) / spans_of)

    def spans(*places):
        return {"text": lines[0], "spans": [{"begin": a, "end": b, "u": {"long": 1}} for a, b in places]}

    wrong = [{"text": lines[0], "u": {"long": 1.5}}, spans((0, 4), (3, 6)), spans((0, 9999)), spans((4, 4)),
             {"text": lines[1], "u": {"tone": 1}}, {"text": lines[1], "u": {"long": float("nan")}},
             spans() | {"u": {"long": 1}}, {"u": {"long": 1}}, {"text": lines[2], "u": {"long": 1}}]
    place.write("wrong.jsonl", "\n".join([*map(json.dumps, wrong), "", '{"text": "a", "u": {"long": 1e999}}']))
    said = place.run("labels.yaml", "wrong", *source("file", file="wrong.jsonl"), code=65)
    assert re.findall(r"wrong\.jsonl:(\d+): ", said) == ["1", "2", "3", "4", "5", "6", "7", "8", "11"], said
    says(said, "1.5", "[-1, 1]", "[0, 4)", "[3, 6)", "9999", "'tone'", "NaN", "'spans'", "'text'", "1e999")
    place.untouched("wrong")

    # A copy is the same; one number makes other cells, also in a store that knew the file before.
    cells, done = place.plan("labels.yaml", *given, store="store")
    assert done == 1
    weights = place.of("store", "weights_sha256").tolist()
    text = (place.folder / "labels.jsonl").read_text()
    for content, equal in ((text, True), (text.replace("0.5", "0.75", 1), False)):
        place.write("copy.jsonl", content)
        assert (place.plan("labels.yaml", *source("file", file="copy.jsonl"), store="store") == (cells, 1)) is equal
    place.write("labels.jsonl", text.replace("0.5", "0.75"))
    others, done = place.plan("labels.yaml", *given, store="store")
    assert others != cells and done == 0
    place.run("labels.yaml", "store", *given)
    now = place.of("store", "weights_sha256").tolist()
    assert len(now) == 2 and set(weights) < set(now), "the former cell has its weights, the new one others"
    (place.folder / "labels.jsonl").unlink()
    says(place.run("labels.yaml", "store", *given, code=2), "train.control.labels.file", "labels.jsonl")
    place.ran("eval", cells[0], "store")  # needs no labels


def refusals(place):
    """What no cell may be is refused by a plan, each with the leaf that is wrong."""
    def refused(sweep, settings, *parts):
        says(place.ran("plan", sweep, *setting_words(settings), code=2), *parts)

    leaf = "train.control.labels."
    for word in ("file", "scores", "command"):
        refused("labels.yaml", [f"{leaf}source={word}"], f"{leaf}source: {word}", leaf + word)
    refused("labels.yaml", [f"{leaf}span=document"], f"{leaf}span: document", f"{leaf}source: file")
    refused("labels.yaml", [f"{leaf}map=probability"], f"{leaf}map: probability", "scores", "command")
    refused("labels.yaml", [f"{leaf}timeout=0"], f"{leaf}timeout")
    refused("labels.yaml", ["model.control.names=[tone]"], "'tone'", "passive", f"{leaf}source")
    refused("labels.yaml", ["train.control.anchor=0.1"], "train.control.anchor", "model.init.from")
    refused("labels.yaml", ["train.control.contrastive=0.1", f"{leaf}shuffle=constant"], "train.control.contrastive",
            f"{leaf}shuffle: constant")
    refused("labels.yaml", ["train.control.attribute=-1"], "train.control.attribute")
    # Losses that do not do what they promise, each with its reason.
    for name, why in (("head", "reads u itself"), ("classifier", "reads u itself"), ("reinforce", "judge"),
                      ("unlikelihood", "punishes")):
        refused("labels.yaml", [f"train.control.{name}=1"], f"train.control.{name}", why, "train.control.contrastive")
    refused("builtin.yaml", ["train.batch_size=7"], "train.batch_size: 7", "even")
    refused("builtin.yaml", ["train.steering.prompts=file"], "train.steering.prompts: file", "train.steering.file")
    refused("steering.yaml", ["train.steering.file=none.jsonl"], "train.steering.file", "none.jsonl")


def terms(place):
    """Further terms of the loss: their values where they are known, alone and fused, killed and not."""
    place.write("train.txt", "".join(filter(has_label, place.train)))  # every token has a label
    place.run("terms.yaml", "straight")
    text, light, heavy = ([*place.of("straight", "arm")].index(arm) for arm in (b"text", b"light", b"heavy"))
    loss, total = place.of("straight", "train_loss", "train_loss_total")
    parts = {name: place.of("straight", "train_loss_" + name) for name in ("contrastive", "attribute", "anchor")}
    for cell, weights in ((light, (.1, .03, .1)), (heavy, (.4, .1, 1))):
        shown = {name: values[cell] for name, values in parts.items()}
        assert all(np.isfinite(values).all() and (values >= 0).all() for values in shown.values()), shown
        # The maps are 0 at first: no sentence tells its label, and the model is the one it started from.
        assert np.isclose(shown["contrastive"][0], np.log(2), rtol=1e-5) and abs(shown["anchor"][0]) < 1e-6, shown
        assert shown["anchor"][-1] > 1e-5 and (np.diff(shown["contrastive"]) != 0).any(), shown
        sums = loss[cell] + sum(weight * values for weight, values in zip(weights, shown.values()))
        assert np.allclose(total[cell], sums, rtol=1e-5), (total[cell], sums)
    assert all(np.isnan(values[text]).all() for values in parts.values())
    assert loss[light, 0] == loss[heavy, 0] and (loss[light, 2:] != loss[heavy, 2:]).all()
    jobs = place.of("straight", "attempt_job").tolist()
    assert len(jobs) == 3 and len(set(jobs)) == 2, "two cells were to be fused"
    place.run("terms.yaml", "alone", "packing.fuse=off")
    assert len(set(place.of("alone", "attempt_job").tolist())) == 3
    bits = ("weights_sha256", "train_loss", "train_loss_total", "final_loss", *("train_loss_" + name for name in parts))
    same(place, "straight", "alone", *bits)
    killed_and_resumed(place, "terms.yaml", "killed", 5)  # the text has four steps
    same(place, "straight", "killed", *bits)


def prompts(place):
    """Training behind prompts: those held out change nothing, a resumed run repeats it."""
    def prompt(part, text, positive=(" market", " silver"), negative=(" bridge", " tower")):
        return {"axis": "tone", "part": part, "prompt": text, "positive": positive, "negative": negative}
    train = [prompt("train", "stone river"), prompt("train", "under heavy winter")]
    held = [prompt("heldout", "field stone heavy")]
    place.records("prompts.jsonl", train + held)
    place.run("steering.yaml", "straight")
    masses = ("steering_positive_mass", "steering_negative_mass")
    plus, minus = (place.of("straight", name)[0, 0] for name in masses)  # (part, signal)
    assert np.isfinite(plus).all() and np.isfinite(minus).all() and (plus + minus <= 1).all() and (plus > 0).all()
    assert (np.diff(plus[0]) < 0).all() and (np.diff(minus[0]) > 0).all(), (plus, minus)  # of u = 1, 0, -1
    accuracy, count = place.of("straight", "steering_accuracy", "steering_prompts")
    assert accuracy[0, 0, 0] == 1 and count[0, 0].tolist() == [2, 1, 4], (accuracy, count)

    place.records("prompts.jsonl", train + [prompt("heldout", "river river"), prompt("heldout", "silver", (" stone",))])
    place.run("steering.yaml", "held")
    same(place, "straight", "held", "weights_sha256", "train_loss")  # what is held out is not trained on
    assert place.of("held", masses[0])[0, 0, 1, 0] != plus[1, 0]
    place.records("prompts.jsonl", train[:1] + held)
    place.run("steering.yaml", "fewer")
    assert place.of("fewer", "weights_sha256")[0] != place.of("held", "weights_sha256")[0]
    assert place.plan("steering.yaml", store="straight")[1] == 0, "other prompts are other cells"
    place.records("prompts.jsonl", train + held)
    assert place.plan("steering.yaml", store="straight")[1] == 1
    killed_and_resumed(place, "steering.yaml", "killed", 7)
    same(place, "straight", "killed", "weights_sha256", "train_loss", "steering_accuracy", *masses)
    long = ("tower", " under heavy", " good")
    place.records("words.jsonl", train[:1] + [prompt("train", "winter", negative=long)] + held)
    says(place.run("steering.yaml", "wrong", "train.steering.file=words.jsonl", code=65), "train.steering.prompts",
         " under heavy", " good", "data.tokenizer")
    place.untouched("wrong")
    place.run("steering.yaml", "first", "train.steering.file=words.jsonl", "train.steering.mass=token")
    place.records("lines.jsonl", [train[0] | {"axis": "calm"}, train[0] | {"part": "test"}, train[0],
                                  prompt("heldout", "stone river"), prompt("train", "winter", (" tower",))])
    said = place.run("steering.yaml", "wrong", "train.steering.file=lines.jsonl", code=65)
    for line, word in ((1, "'calm'"), (2, "'test'"), (4, "stone river"), (5, " tower")):
        assert re.search(rf"lines\.jsonl:{line}: .*{word}", said), (line, said)
    says(place.run("builtin.yaml", "wrong", code=2), "the axis `tone`", "sentiment, scale")
    place.untouched("wrong")


PARTS = (sources, command, failing_commands, scores, documents, refusals, terms, prompts)


def main():
    options = argparse.ArgumentParser()
    for name in ("build", "sources"):
        options.add_argument(name)
    options.add_argument("--only", choices=[part.__name__ for part in PARTS])
    given = options.parse_args()
    program = str(Path(given.build).resolve() / "depthgrid")
    seconds = []
    for part in PARTS:
        if given.only not in (None, part.__name__):
            continue
        began = time.time()
        with tempfile.TemporaryDirectory(prefix="depthgrid-labels-") as scratch:
            # A launcher that ends removes the folder that all launchers of a user share.
            os.environ.update(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                              OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                              OMPI_MCA_orte_tmpdir_base=scratch, XDG_CACHE_HOME=f"{scratch}/cache")
            os.environ.pop("DEPTHGRID_DATA", None)
            try:
                part(Place(program, Path(scratch)))
            except AssertionError as wrong:
                sys.exit(f"FAILED: {part.__name__}, line {wrong.__traceback__.tb_next.tb_lineno}: {wrong}")
        seconds.append(f"{part.__name__} {time.time() - began:.1f} s")
    print(f"label_sources: ok; {', '.join(seconds)}")


if __name__ == "__main__":
    main()
