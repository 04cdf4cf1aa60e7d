#!/usr/bin/env bash
# A signal made of labels: from a text to trained and measured cells, killed on the way, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
python=$sources/.venv/bin/python

# Sentences whose words tell their label: long ones are made of other words than short ones.
python3 - <<'PY'
import random
draw = random.Random(1)
few, many = ["stone", "river", "field", "tower"], ["under", "heavy", "winter", "silver", "bridge", "market"]
with open("text.txt", "w") as out:
    for _ in range(5000):
        long = draw.random() < .5
        words = draw.choices(many, k=draw.randint(12, 16)) if long else draw.choices(few, k=draw.randint(5, 8))
        if draw.random() < .3:
            words.insert(draw.randrange(len(words)), str(draw.randint(10, 20)))
        out.write(" ".join(words) + " . ")
        if draw.random() < .2:
            out.write("\n")
PY
cat >control.yaml <<'YAML'
name: control
method: list
model: {family: hybrid_ode, d_model: 32, n_layers: 3, n_heads: 2, replaced_layers: [1, 2], field: {alpha_init: 1}}
data: {corpus: file, data.path: text.txt, tokenizer: word, vocab_size: 64, seq_len: 32, dev_fraction: 0.05, valid_fraction: 0.1}
train: {lr: 4e-3, batch_size: 8}
eval: {every: 40, windows: 8}
checkpoint: {every: 20}
probes: {trajectory.schedule: off, gradients.schedule: off, solver.schedule: off, attention.schedule: off, logit_lens.schedule: off, weights.schedule: off}
include:
  - {tag: text, train.steps: 120}
  - {tag: flow, train.steps: 120, train.task: control, model.control.names: [long, digits], model.init.from: "arm:text", data.first_step: source}
  - {tag: bounded, train.steps: 120, train.task: control, model.control.names: [long, digits], regularisers.energy: 0.01, regularisers.control_smoothness: 0.1, regularisers.control_band: [0.2, 0.4], model.gradient.mode: checkpoint, model.init.from: "arm:text", data.first_step: source}
  - {tag: film, train.steps: 120, train.task: control, model.control.names: [long, digits], model.control.injection: film, model.init.from: "arm:text", data.first_step: source}
  - {tag: block, train.steps: 120, train.task: control, model.control.names: [long, digits], model.control.sites: layers, model.init.from: "arm:text", data.first_step: source}
  - {tag: prefix, train.steps: 120, train.task: control, model.control.names: [long, digits], model.control.sites: token, train.control.labels.span: window, model.init.from: "arm:text", data.first_step: source}
  - {tag: shuffled, train.steps: 120, train.task: control, model.control.names: [long, digits], train.control.labels.shuffle: sentences, model.init.from: "arm:text", data.first_step: source}
  - {tag: continued, train.steps: 120, train.task: control, model.control.names: [long, digits], train.control.neutral: 1, model.init.from: "arm:text", data.first_step: source}
baseline: {tag: continued}
seeds: 2
YAML
sed -i 's/data.path: text.txt/path: text.txt/' control.yaml

expect 0 "$depthgrid" run control.yaml --store straight -q
expect 0 "$depthgrid" results straight
cat >figures.py <<'PY'
import sys
import h5py, numpy as np
store = h5py.File(sys.argv[1] + "/sweep.h5")
tags = [t.decode() if isinstance(t, bytes) else t for t in store["arm"][:]]
valid = [s.decode() if isinstance(s, bytes) else s for s in store["split"][:]].index("valid")
def of(name, tag): return np.array([store[name][i] for i, t in enumerate(tags) if t == tag])
names = [s.decode() if isinstance(s, bytes) else s for s in store["control_axis"][:]]
assert names == ["long", "digits"], names
own = {tag: of("control_auc", tag)[:, 0, 0] for tag in ("flow", "bounded", "film", "block", "prefix", "shuffled", "continued")}
gain = {tag: of("control_gain_sentence", tag)[:, valid] for tag in own}
print("own AUC", {k: v.round(3).tolist() for k, v in own.items()}, "gain", {k: v.round(4).tolist() for k, v in gain.items()})
assert all((own[tag] > .55).all() for tag in ("flow", "bounded", "film", "block")), own
# Words of two kinds: any direction tells them apart, this way or that, but only true labels gain by it.
assert all((gain[tag] > .02).all() for tag in ("flow", "film", "block")) and (gain["shuffled"] < gain["flow"] / 2).all(), gain
assert (own["continued"] == .5).all(), "a map that was never trained says nothing"
# Maps of zero move nothing, which is 0.2 below the band; then the slope in the signal is led into it.
band, energy = of("train_loss_control_smoothness", "bounded"), of("train_loss_energy", "bounded")
assert np.allclose(band[:, 0], .04) and (band[:, -40:].mean(1) < .01).all(), band[:, ::20]
assert (energy[:, -40:].mean(1) < energy[:, 0] / 2).all(), energy[:, ::20]
low, high = of("control_auc_low", "flow")[:, 0, 0], of("control_auc_high", "flow")[:, 0, 0]
assert (low < own["flow"]).all() and (own["flow"] < high).all()
for tag in ("flow", "bounded", "film", "block", "prefix"):
    nll = {n: of("control_nll_" + n, tag)[:, valid] for n in ("neutral", "matched", "mismatched", "previous")}
    assert np.array_equal(nll["neutral"], of("final_loss", tag)[:, valid]), (tag, nll)
    ordered = (nll["matched"] < nll["neutral"]).all() and (nll["neutral"] < nll["mismatched"]).all()
    assert ordered or tag == "prefix", (tag, nll)  # whose signal is the mean of a window's labels
    assert (of("control_leak", tag)[:, valid] == 0).all()
assert np.array_equal(of("control_nll_matched", "continued"), of("control_nll_neutral", "continued"), equal_nan=True)
assert (abs(of("control_label_rate", "flow")[:, 1] - .3) < .03).all()
assert np.isnan(of("control_nll_neutral", "text")).all()
digests = {tag: of("data_order_digest", tag).tolist() for tag in ("flow", "block", "continued")}
assert digests["flow"] == digests["block"] == digests["continued"]
PY
"$python" figures.py straight >figures.txt || fail "$(cat figures.txt)"

# Killed in each phase and between them: the same weights and figures.
for step in 30 110 30 70; do
  DEPTHGRID_FAULT="kill@$step" "$depthgrid" run control.yaml --set retry.infrastructure=0 --store killed -q >/dev/null 2>&1 && fail "not killed"
done
expect 0 "$depthgrid" run control.yaml --store killed -q
"$python" - <<'PY' || fail "a killed run differs"
import h5py, numpy as np
a, b = h5py.File("straight/sweep.h5"), h5py.File("killed/sweep.h5")
for name in ("weights_sha256", "final_loss", "control_auc", "control_auc_low", "control_nll_matched", "control_gain_sentence"):
    x, y = a[name][:], b[name][:]
    assert (x == y).all() if x.dtype == object else np.array_equal(x, y, equal_nan=True), name
PY
ls straight/texts/labels-*.json >/dev/null || fail "what was fitted on the text is not kept"

# The signal is one of a cell's, by name of its axes.
expect 0 "$depthgrid" generate flow,s0 straight --prompt "stone" --tokens 8 --temperature 0 --control 1,0 --json
cp out steered
expect 0 "$depthgrid" generate flow,s0 straight --prompt "stone" --tokens 8 --temperature 0 --control 0,0 --json
cp out neutral
expect 0 "$depthgrid" generate flow,s0 straight --prompt "stone" --tokens 8 --temperature 0 --json
python3 -c 'import json; assert json.load(open("out"))["tokens"] == json.load(open("neutral"))["tokens"]' ||
  fail "u = 0 is not no signal"

# refused LEAVES TEXT...: the cell is refused with these words.
refused() {
  sed '/^include:/,$d; s/^method: list//' control.yaml >refused.yaml
  printf 'parameters:\n  train.task: control\n%s\n' "$1" >>refused.yaml
  expect 2 "$depthgrid" validate refused.yaml
  shift
  for text in "$@"; do says err "$text"; done
}
refused $'  model.control.dim: 2' "name the axes instead of counting them" "long, digits, passive"
refused $'  model.control.names: {value: [long, tone]}' "no rule labels 'tone'"
refused $'  model.control.names: {value: [long]}\n  model.control.sites: token' "train.control.labels.span: window"
refused $'  model.control.names: {value: [long]}\n  model.control.u: {value: [1]}' "model.control.u"
refused $'  model.control.names: {value: [long]}\n  model.control.sites: layers\n  model.control.layers: {value: [1]}' "names layer 1, which the flow replaces"
refused $'  model.control.names: {value: [long]}\n  model.control.schedule: window\n  model.control.window: {value: [0, 0.2]}' "at every evaluation of the flow"
refused $'  model.control.names: {value: [long]}\n  data.corpus: "synthetic:markov"' "has no sentences"
echo "control: 16 cells, $(cat figures.txt)"
