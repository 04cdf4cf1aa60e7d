#!/usr/bin/env python3
"""What `compare` and `report` say of a real sweep, and what a page must not say.

comparison.py BUILD_FOLDER

Differences and intervals are computed here once more from the numbers of `results --json`; a page is searched for
names and texts of this machine and of the corpus, and for markup that came from the sweep file.
"""
import base64
import csv
import getpass
import hashlib
import html
import html.parser
import io
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

import h5py
import numpy as np

CANARIES = ["zebracanary", "quartzcanary"]  # words of the corpus
EVIL = "</script></style><script>alert('owned')</script><img src=x onerror=alert(1)> \u202e reversed"
T975 = {2: 4.302652729749462, 4: 2.7764451051977987}  # quantile of Student's distribution, by degrees of freedom
AUDITS = """causality declaration batch_independence parameter_count gradient_flow initial_loss overfit_batch
entropy_floor fusion scores positions training_step leaves"""
SWEEP = f"""name: grid
description: {json.dumps(EVIL)}
model: {{family: time_indexed, d_model: 8, n_layers: 2, n_heads: 2, time_features: {{frequencies: 4}}}}
data: {{corpus: file, path: CORPUS, tokenizer: word, vocab_size: 32, seq_len: 8}}
train: {{steps: 8, batch_size: 4, lr: 0.01}}
eval: {{every: 2, windows: 4, final_windows: 8}}
checkpoint: {{every: null}}
audit: {{{", ".join(name + ": off" for name in AUDITS.split())}}}
parameters:
  model.modulation.hidden: [4, 8]
  model.residual.scale: ["1/L", 1]
include:
  - {{tag: gpt, model.family: standard}}
seeds: 3
"""
ROUTED = f"""name: routed
model: {{family: tdt, d_model: 8, n_layers: 2, n_heads: 2}}
data: {{corpus: file, path: CORPUS, tokenizer: word, vocab_size: 32, seq_len: 8}}
train: {{steps: 8, batch_size: 4, lr: 0.01}}
eval: {{every: 8, windows: 4, final_windows: 8}}
checkpoint: {{every: null}}
audit: {{{", ".join(name + ": off" for name in AUDITS.split())}}}
parameters:
  model.tdt.capacity: [0.25, 0.5]
seeds: 2
"""


def fail(message):
    sys.exit(f"FAILED: {message}")


class Page(html.parser.HTMLParser):
    """Elements of a page, and the text of its scripts and styles."""

    VOID = {"meta", "br", "hr", "img", "input", "link"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.raw = [], [], [], {"script": [], "style": []}
        self.attributes = []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            self.attributes.append((tag, name, value))
            if name == "id":
                self.ids.append(value)
        if tag not in self.VOID:
            self.open.append(tag)
            if tag in self.raw:
                self.raw[tag].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> within {self.open[-4:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]][-1] += data


class Place:
    def __init__(self, build, folder):
        self.program, self.folder = str(Path(build).resolve() / "depthgrid"), folder

    def __call__(self, *words, code=0):
        done = subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != code:
            fail(f"{words}: exit code {done.returncode}, {code} expected\n{done.stdout}{done.stderr}")
        return done


def differences(cells, factor, baseline):
    """By level: mean and half-width of the paired differences, averaged over the other factor."""
    figures = {}
    for cell in cells:
        if factor in cell["overrides"]:
            others = json.dumps({k: v for k, v in cell["overrides"].items() if k not in (factor, "seed")}, sort_keys=True)
            figures.setdefault(cell["overrides"][factor], {}).setdefault(cell["seed"], {})[others] = cell["metrics"]["final_loss.valid"]
    out = {}
    for level, seeds in figures.items():
        if level == baseline:
            continue
        pairs = []
        for seed, own in seeds.items():
            both = [o for o in own if o in figures[baseline][seed]]
            pairs.append(sum(own[o] - figures[baseline][seed][o] for o in both) / len(both))
        n, mean = len(pairs), sum(pairs) / len(pairs)
        sd = math.sqrt(sum((p - mean) ** 2 for p in pairs) / (n - 1))
        out[level] = (n, mean, T975[n - 1] * sd / math.sqrt(n))
    return out


def compared(place):
    cells = json.loads(place("results", "results/grid", "--json").stdout)["cells"]
    leaf = "model.modulation.hidden"
    said = json.loads(place("compare", "results/grid", "--by", "hidden,scale", "--margin", "10", "--json").stdout)
    expected = differences(cells, leaf, 4)
    table = next(t for t in said["effects"] if t["factor"] == leaf and not t["exploratory"])
    assert table["averaged_over"] == ["model.residual.scale"] and table["baseline"] == "4", table
    for group in table["groups"]:
        if group["level"] in expected:
            n, mean, half = expected[group["level"]]
            found = group["contrast"]["difference"]
            low, high = found["interval"]
            assert found["n"] == n and abs(found["mean"] - mean) < 1e-12, (found, mean)
            assert abs((high - low) / 2 - half) < 1e-9 * max(1, half), (found, half)
            assert group["contrast"]["verdict"] == "no effect beyond δ", group
    assert [g["name"] for g in table["groups"]] == ["4", "8", "gpt"]
    assert said["family"] == 3, "hidden: 8 and gpt; scale: 1"
    rows = list(csv.DictReader(io.StringIO(place("compare", "results/grid", "--by", "hidden", "--csv").stdout)))
    assert [r["group"] for r in rows] == ["4", "8", "gpt"] and rows[0]["difference"] == ""
    assert abs(float(rows[1]["difference"]) - expected[8][1]) < 1e-12
    by_arm = json.loads(place("results", "results/grid", "--by", "arm", "--json").stdout)["arms"]
    arms = {g["name"]: g for g in json.loads(place("compare", "results/grid", "--json").stdout)["effects"][0]["groups"]}
    for arm in by_arm:
        mine, theirs = arm["metrics"]["final_loss.valid"]["difference"], arms[arm["arm"]]["contrast"]
        assert (mine is None) == (theirs is None), arm
        assert mine is None or (mine["value"], mine["low"]) == (theirs["difference"]["mean"], theirs["difference"]["interval"][0])
    # A table says what its store says, but for what it cannot know.
    (place.folder / "grid.csv").write_text(place("results", "results/grid", "--csv").stdout)
    table = json.loads(place("compare", "grid.csv", "--by", "hidden,scale", "--margin", "10", "--json").stdout)
    assert (table["effects"], table["variance"]) == (said["effects"], said["variance"])
    assert table["tables"] == ["grid.csv"] and said["tables"] == []
    assert "from a table (grid.csv)" in place("compare", "grid.csv").stdout
    (place.folder / "own.csv").write_text("arm,seed,final_loss.valid\n" + "".join(f"own,{s},{s}\n" for s in range(5)))
    both = json.loads(place("compare", "results/grid", "own.csv", "--json").stdout)
    own = next(g for g in both["effects"][0]["groups"] if g["name"] == "own")
    assert own["all"]["n"] == 5 and own["contrast"]["difference"]["n"] > 1, own
    # Read off the curves.
    for words in (("--at", "flops"), ("--last", "3"), ("--target", "3")):
        place("compare", "results/grid", "--by", "hidden", *words)
    unequal = place("compare", "results/grid", "--by", "hidden", "--at", "parameters", code=4)
    assert "match: {on: parameters" in unequal.stdout and "refused" in unequal.stdout, unequal.stdout
    never = place("compare", "results/grid", "--by", "hidden", "--target", "0.001", code=4)
    assert "target reached by 0 of its 3 seeds" in never.stdout and "no seed has reached" in never.stderr, never
    assert "no cell meets the condition 'seed = 9'" in place("compare", "results/grid", "--filter", "seed = 9", code=4).stderr
    one = place("compare", "results/grid", "--filter", "seed = 0", code=4)
    assert "one seed" in one.stderr and not re.search(r"p \.\d", one.stdout), one
    for words, text in ((("--by", "nothing"), "unknown name"), (("--margin", "-1"), "above 0"), (("--allow", "all"), "order, clip"),
                        (("--at", "night"), "parameters, flops or time"), (("--within", "arm"), "a leaf"),
                        (("--target", "1", "--last", "3"), "one at a time"), (("--metric", "train_loss", "--last", "3"), "no curve")):
        assert text in place("compare", "results/grid", *words, code=2).stderr, words


def loss_of(place, store):
    cells = json.loads(place("results", store, "--json").stdout)["cells"]
    loss = {(c["arm"], c["seed"]): c["metrics"]["final_loss.valid"] for c in cells if c["status"] == "completed"}
    return loss, next(c["arm"] for c in cells if c["baseline"])


def two_stages(place):
    """Seeds are added once, by the deviation of the first ones; what was decided is kept."""
    few = place("run", "grid.yaml", "--store", "results/u", "--until-ci", "1%", code=2)
    assert "5 seeds or more, this sweep has 3" in few.stderr, few.stderr
    file = ("grid.yaml", "--store", "results/u", "--set", "seeds=5", "--set", "model.residual.scale=1")
    sweep, rule = ("run", *file), ("--until-ci", "1e-4", "--max-seeds", "7")
    for words, text in ((("--until-ci", "narrow"), "half-width"), (("--until-ci", "0"), "half-width"),
                        (("--max-seeds", "9"), "belongs to --until-ci"), (("--until-ci", "1", "--max-seeds", "4"), "at least 5")):
        assert text in place(*sweep, *words, code=2).stderr, words
    end = place(*sweep, *rule).stderr
    decided = place.folder / "results/u/until_ci.json"
    record, before = json.loads(decided.read_text()), decided.read_bytes()
    assert record["first_seeds"] == [0, 1, 2, 3, 4] and record["seeds"] == list(range(7)) and not record["met"], record
    loss, base = loss_of(place, "results/u")
    assert len(loss) == 21 and record["baseline"] == base, "three arms of seven seeds"
    rows = json.loads(place("results", "results/u", "--by", "arm", "--json").stdout)["until_ci"][0]["arms"]
    asked = 5
    for one, row in zip(record["contrasts"], rows, strict=True):
        pairs = [loss[one["arm"], s] - loss[base, s] for s in range(7)]
        first = sum(pairs[:5]) / 5
        sd = math.sqrt(sum((d - first) ** 2 for d in pairs[:5]) / 4)
        half = T975[4] * sd / math.sqrt(7)
        asked = max(asked, math.ceil((T975[4] * sd / 1e-4) ** 2))
        assert abs(sd - one["sd"]) < 1e-12 and abs(one["half_width"] - half) < 1e-10, (sd, one)
        assert (row["arm"], row["n"], row["degrees"]) == (one["arm"], 7, 4) and abs(row["mean"] - sum(pairs) / 7) < 1e-12, row
        assert abs(row["half_width"] - half) < 1e-10 and abs(row["high"] - row["mean"] - half) < 1e-10, row
    assert f"asks for {asked}, --max-seeds allows 7: half-width of" in end and "4 degrees of freedom" in end, (asked, end)
    # Beside the rule's own question alone: no other metric, baseline or choice of cells.
    for verb in (("compare", "results/u"), ("results", "results/u", "--by", "arm")):
        said = place(*verb).stdout
        assert "chosen by their spread" in said and "4 degrees of freedom" in said, said
        other = record["contrasts"][0]["arm"]
        for words, why in ((("--baseline", other), "another baseline"), (("--filter", "seed != 6"), "left out")):
            said = place(*verb, *words).stdout
            assert why in said and "degrees of freedom" not in said, said
    assert "another metric" in place("compare", "results/u", "--metric", "eval_loss.valid").stdout
    place("report", "results/u", "-o", "staged.html")
    page = (place.folder / "staged.html").read_text()
    assert "intervals by the rule of two stages" in page and f"asks for {asked}" in page and "until_ci.json" not in page
    table = list(csv.DictReader(io.StringIO(place("compare", "results/u", "--csv").stdout)))
    assert [row["until_ci_degrees"] for row in table] == ["", "4", "4"], table
    assert float(table[1]["until_ci_difference"]) == rows[0]["mean"], table
    # The seeds belong to the sweep now, and nothing is decided twice.
    again = place(*sweep)
    assert "compare has those of the rule" in again.stderr, again.stderr
    assert "21 of 21 cells completed" in again.stderr and "results/u/until_ci.json: " in again.stderr, again.stderr
    other = place("plan", *file, "--set", "train.lr=0.02", "--json")
    assert len(json.loads(other.stdout)["cells"]) == 21
    assert "results/u/until_ci.json: --until-ci 1e-4 has decided on 7 seeds" in other.stderr, other.stderr
    assert sum(json.loads(place("status", *file, "--json").stdout)["counts"].values()) == 21
    assert "never decided twice" in place(*sweep, "--until-ci", "2e-4", code=2).stderr
    late = place("run", "grid.yaml", "--store", "results/u", "--set", "seeds=5", *rule, code=2).stderr
    assert "never decided twice" in late or "decided without" in late, late
    place(*sweep, *rule)
    assert decided.read_bytes() == before
    # Damage is named, and what the message advises works.
    decided.write_bytes(before.replace(b'"max_seeds": 7', b'"max_seeds": 9'))
    damaged = place(*sweep, code=65).stderr
    assert "results/u/until_ci.json: is damaged (its sha256" in damaged, damaged
    assert "is damaged" in place("compare", "results/u").stdout, "what the cells say is shown"
    move = re.search(r"\((mv \S+ \S+)\)", damaged)[1].split()
    subprocess.run(move, cwd=place.folder, check=True)
    place(*sweep, *rule)
    assert decided.read_bytes() == before, "decided again, the same"
    killed_between(place, file, rule, before, loss)


def killed_between(place, file, rule, decided, loss):
    """Killed as soon as stage one is decided: the same command goes on by what was decided, to the same bits."""
    words = ["run", *(w if w != "results/u" else "results/k" for w in file), *rule, "--quiet"]
    record = place.folder / "results/k/until_ci.json"
    with subprocess.Popen([place.program, *words], cwd=place.folder, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        while not record.exists() and run.poll() is None:
            time.sleep(0.002)
        os.killpg(run.pid, signal.SIGKILL)
    assert record.read_bytes() == decided, "written whole"
    (place.folder / "results/k/.tmp-1-1").write_bytes(decided[:40])  # what one that is killed while it writes leaves
    place(*words)
    assert record.read_bytes() == decided and loss_of(place, "results/k")[0] == loss


def two_stages_at_equal_parameters(place):
    """Widths of match: are part of the cells that stage one is made of; an arm that diverges is left out, as the message says."""
    text = SWEEP[: SWEEP.index("include:")].replace('  model.residual.scale: ["1/L", 1]\n', "").replace("lr: 0.01", "lr: 0.01, clip: none")
    text += "seeds: 5\nmatch: {on: parameters, vary: model.d_ff, reference: {model.modulation.hidden: 4}, arms: {model.modulation.hidden: 8}}\n"
    text = text.replace("CORPUS", str(place.folder / "corpus.txt")).replace("name: grid", "name: equal")
    file, record = place.folder / "equal.yaml", place.folder / "results/equal/until_ci.json"
    run = ("run", "equal.yaml", "--until-ci", "50%")
    file.write_text(text + "include:\n  - {tag: wild, train.lr: 1e9, model.modulation.hidden: 16}\n")
    said = place(*run, code=4).stderr
    assert "diverged: wild,s0, wild,s1" in said and "they diverge again" in said and "retry" not in said, said
    assert not record.exists()
    file.write_text(text)
    for _ in range(2):
        end = place(*run).stderr
        assert "stage one of 5 seeds asks for 5" in end and "4 degrees of freedom" in end, end
    assert json.loads(record.read_text())["met"]


def rows_of(page, columns, first):
    """Rows of the tables in a page's CSV that have so many columns and begin like this."""
    return [row for row in csv.reader(io.StringIO(html.unescape(page))) if len(row) == columns and row[0] == first]


def routed(place):
    """Which tokens layers execute, and their texts for those who ask for them."""
    (place.folder / "routed.yaml").write_text(ROUTED.replace("CORPUS", str(place.folder / "corpus.txt")))
    place("run", "routed.yaml", "--quiet")
    place("report", "results/routed", "-o", "routed.html")
    text = (place.folder / "routed.html").read_text()
    assert {"routing", "training"} <= set(Page(text).ids)
    assert not [word for word in CANARIES if word in text], "a token that nobody asked for"
    place("report", "results/routed", "-o", "tokens.html", "--include", "tokens")
    told = (place.folder / "tokens.html").read_text()
    Page(told)
    assert [word for word in CANARIES if word in told], "eight words of six, of which two are canaries"
    executed = []
    for file in (place.folder / "results/routed/cells").glob("*/*/result.h5"):
        with h5py.File(file) as h5:
            if h5["param_seed"][0] == 0 and h5["param_model_tdt_capacity"][0] == 0.25:
                mask = h5["routing_mask"][0, -1, 1, 0].astype("u1")  # last measurement, second layer, first sequence
                executed.append([str(bit) for bit in np.unpackbits(mask, bitorder="little")[:8]])
    found = [[row[2] for p in range(8) for row in rows_of(told, 3, str(p))[i:i + 1]] for i in range(2)]
    assert len(executed) == 1 and executed[0] in found, (executed, found)
    # Of a corpus that is gone, the store's own tokens are read; of neither, the page says what it lacks.
    (place.folder / "corpus.txt").rename(place.folder / "gone.txt")
    place("report", "results/routed", "-o", "kept.html", "--include", "tokens")
    assert (place.folder / "kept.html").read_text() == told
    (place.folder / "results/routed/tokens").rename(place.folder / "tokens")
    place("report", "results/routed", "-o", "without.html", "--include", "tokens")
    assert "Without the text of the tokens" in (place.folder / "without.html").read_text()
    (place.folder / "gone.txt").rename(place.folder / "corpus.txt")


def compiled(folder):
    """Where there is a LaTeX: the document alone and within another one, both without a complaint."""
    if not shutil.which("pdflatex"):
        print("comparison: without pdflatex, report.tex is read and not compiled")
        return
    outer = folder.parent / "outer"
    outer.mkdir()
    (outer / "outer.tex").write_text(
        r"\documentclass{article}\usepackage{booktabs,graphicx,textcomp}\newcommand{\depthgridfolder}{../latex/}"
        r"\begin{document}\section{Ours}\input{../latex/report}Behind.\end{document}")
    for source in (folder / "report.tex", outer / "outer.tex"):
        told = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"-output-directory={outer}", source],
                              cwd=source.parent, stdout=subprocess.PIPE, text=True, errors="replace", check=False)
        assert told.returncode == 0 and (outer / source.with_suffix(".pdf").name).exists(), told.stdout[-3000:]
        wide = [line for line in told.stdout.splitlines() if line.startswith("Overfull") and float(line.split("(")[1].split("pt")[0]) > 20]
        assert not wide, wide


def papers(place, secrets):
    """The page's files for papers: whole, linked to each other, and as silent as the page."""
    for kind, name in (("markdown", "report.md"), ("latex", "report.tex"), ("svg", None)):
        place("report", "results/grid", "-o", f"paper/{kind}", "--format", kind, "--margin", "10")
        files = {file.name: file.read_text() for file in (place.folder / "paper" / kind).iterdir()}
        text = files.pop(name) if name else ""
        assert {Path(file).suffix for file in files} == {".svg", ".csv"} and len(files) > 20, sorted(files)
        for file, content in {**files, name or "": text}.items():
            assert not [word for word in secrets if word in content], file
        for file in files:
            if file.endswith(".svg"):
                root = xml.etree.ElementTree.fromstring(files[file])
                assert root.tag == "{http://www.w3.org/2000/svg}svg" and "var(" not in files[file], file
                numbers = [one for one in files if one == file[:-4] + ".csv" or one.endswith(".csv") and file[:5] == "probe"
                           and one.rsplit("-", 1)[0] == file.rsplit("-", 1)[0]]  # maps of several arms have them once
                assert numbers, f"{file} without its numbers"
        if kind == "latex":
            compiled(place.folder / "paper/latex")
        if kind == "markdown":
            linked = set(re.findall(r"\]\(([^)]+)\)", text))
            assert linked == set(files), linked ^ set(files)
    assert text == "" and "is a folder" in place("report", "results/grid", "-o", "paper", code=2).stderr
    assert "is a file" in place("report", "results/grid", "-o", "page.html", "--format", "svg", code=2).stderr
    assert "is a store" in place("report", "results/grid", "-o", "results/grid", "--format", "svg", code=2).stderr


def page_of(place):
    place("report", "results/grid", "-o", "page.html", "--margin", "10")
    text = (place.folder / "page.html").read_text()
    place("report", "results/grid", "-o", "again.html", "--margin", "10")
    assert text == (place.folder / "again.html").read_text(), "the same store gives the same page"
    secrets = [*CANARIES, getpass.getuser() if getpass.getuser() != "root" else "/root", socket.gethostname(), str(place.folder),
               "/tmp", os.environ["HOME"], "<script>alert", "<img", "\u202e"]
    for word in secrets:
        assert word not in text, f"the page says {word!r}"
    papers(place, secrets)
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    page = Page(text)
    assert len(page.ids) == len(set(page.ids)), "an id twice"
    assert {"answer", "factors", "curves", "cost", "depth", "missing", "provenance"} <= set(page.ids)
    assert not [a for a in page.attributes if a[1] == "style" or a[1].startswith("on") or a[1] in ("src", "srcset")]
    policy = next(v for t, n, v in page.attributes if t == "meta" and n == "content" and v.startswith("default-src"))
    assert policy.startswith("default-src 'none';"), policy
    for kind in ("style", "script"):
        content = page.raw[kind][-1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy, kind
    curves = json.loads(page.raw["script"][0])
    assert len(curves["curves"]) == 15 and len(curves["arms"]) == 5, curves["arms"]
    assert all(len(curves["grids"][c["x"]]) == len(c["y"]) == 5 for c in curves["curves"])
    assert page.tags.count("svg") >= 6
    # What the probes saw along depth, once more from the files.
    states = []
    for file in (place.folder / "results/grid/cells").glob("*/*/result.h5"):
        with h5py.File(file) as h5:
            if h5["arm"].asstr()[0] == "gpt":
                norms = h5["trajectory_norm_mean"][0]  # look, state, class of tokens
                states.append(norms[np.isfinite(norms[:, 0, 0])][-1, :, 0].astype(float))
    assert len(states) == 3
    numbers = rows_of(text, 6, "gpt")  # arm, state, mean, lowest, highest, seeds
    for place_of, values in enumerate(np.transpose(states)):
        wanted = (values.mean(), values.min(), values.max(), 3)
        assert any(row[1] == str(place_of) and np.allclose([float(x) for x in row[2:]], wanted, rtol=1e-9) for row in numbers), wanted
    during = rows_of(text, 7, "gpt")  # the same at each measurement, its step the third
    assert any(row[1:3] == ["0", "0"] for row in during) and any(row[1:3] == ["2", "8"] for row in during), during
    assert "no effect beyond" in text and "numbers as CSV" in text
    place("report", "results/grid", code=2)
    both = place("report", "results/grid", "results/other", "-o", "two.html")
    assert "two.html" in both.stderr
    Page((place.folder / "two.html").read_text())
    stores = [str(place.folder / "results" / name) for name in ("grid", "other")]
    place("report", *stores, "--by", "store", "--allow", "order,clip,code,audit", "-o", "stores.html")
    assert str(place.folder) not in (place.folder / "stores.html").read_text(), "a picture names a folder"


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        place = Place(build, folder)
        words = ["stone", "river", "field", "tower", *CANARIES]
        (folder / "corpus.txt").write_text("\n".join(" ".join(words[(i * 7 + j * j) % 6] for j in range(12)) for i in range(400)))
        (folder / "grid.yaml").write_text(SWEEP.replace("CORPUS", str(folder / "corpus.txt")))
        end = place("run", "grid.yaml").stderr
        assert "depthgrid compare results/grid" in end and "difference" in end, end
        place("run", "grid.yaml", "--store", "results/other", "--set", "seeds=2", "--set", "train.lr=0.02", "--quiet")
        compared(place)
        page_of(place)
        routed(place)
        two_stages(place)
        two_stages_at_equal_parameters(place)
    print("comparison: what compare and report say of real sweeps is what was asked for")


if __name__ == "__main__":
    main()
