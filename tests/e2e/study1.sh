#!/usr/bin/env bash
# The configurations of the first study, at the size of a toy: each can be planned, its models train side by side, and
# arms that are matched to others keep the width that they were planned with.
. "$(dirname "$0")/training_common.sh"
small=(--set model.d_model=16 --set model.n_heads=1 --set data.corpus=self --set data.seq_len=16 --set train.batch_size=2
  --set train.steps=4 --set eval.every=2 --set eval.windows=4 --set eval.final_windows=4 --set seeds=2)

can_be_planned study1 "${small[@]}"

# The comparison of the study: twelve arms, two of them as large as others.
models=$sources/configs/study1/models.yaml
expect 0 "$depthgrid" plan "$models" "${small[@]}" --json
check 'sorted(m["arm"] for m in j["match"]) == ["gpt_as_mlp", "gpt_as_ssm"]'
check 'all(abs(m["difference"]) <= m["tolerance"] and not m["sealed"] for m in j["match"])'
cp out planned
expect 0 "$depthgrid" run "$models" "${small[@]}" --store models -q
expect 0 "$depthgrid" results models --json
check 'len(j["cells"]) == 24 and all(c["status"] == "completed" for c in j["cells"])'
python3 - planned out <<'PY' || fail "parameters or ids differ between plan and run"
import json, sys
plan, results = (json.load(open(f)) for f in sys.argv[1:3])
count = {c["alias"]: c["parameters"] for c in results["cells"]}
assert [c["id"] for c in plan["cells"]] == [c["id"] for c in results["cells"]]
for m in plan["match"]:
    assert count[m["arm"] + ",s0"] == m["achieved"] and count[m["reference"] + ",s0"] == m["wanted"]
PY

# A measured width is found once: other times in the cache make no other cells.
cat >timed.yaml <<'YAML'
model: {d_model: 16, n_layers: 2, n_heads: 1}
data: {corpus: self, seq_len: 16}
train: {steps: 2, batch_size: 2}
eval: {every: null, final_windows: 4}
include: [{model.sublayers: parallel, tag: mlp}]  # costs as much as the baseline
match: {on: time, vary: model.d_ff, tolerance: 90 %, arms: {tag: mlp}}
YAML
expect 0 "$depthgrid" validate timed.yaml
says out "model.d_ff of mlp is not known yet: a step is measured by the first"
alone  # without the worker there is nobody to ask
expect 0 alone/depthgrid validate timed.yaml
says out "is not known yet"
expect 78 alone/depthgrid plan timed.yaml
says err "not there or cannot be started"
expect 0 mpirun -np 2 "$depthgrid" run timed.yaml --store timed -q
expect 0 "$depthgrid" plan timed.yaml --store timed --json
check 'j["done"] == 2 and j["match"][0]["sealed"]'
ids() { python3 -c 'import json; print(*(c["id"] for c in json.load(open("out"))["cells"]))'; }
before=$(ids)
find cache -name '*.json' -exec sed -i 's/"seconds_per_cell_step":[0-9.e-]*/"seconds_per_cell_step":9.0/' {} +
expect 0 "$depthgrid" plan timed.yaml --store timed --json
[ "$(ids)" = "$before" ] || fail "another calibration has made other cells"
rm -r cache
expect 0 "$depthgrid" run timed.yaml --store timed -q
expect 0 "$depthgrid" status timed --json
check 'j["cells"] == 2 and j["counts"]["completed"] == 2'

# What cannot be met is refused, with the nearest width.
sed -e 's/on: time/on: parameters/' -e 's/90 %/1 %/' -e 's/vary: model.d_ff/vary: model.modulation.hidden/' \
  -e 's/model.sublayers: parallel/model.family: time_indexed/' timed.yaml >far.yaml
sed -i 's/model: {d_model: 16, n_layers: 2/model: {d_model: 16, n_layers: 1/' far.yaml
expect 2 "$depthgrid" validate far.yaml
says err "far.yaml:6:8: "
says err "the nearest: mlp has model.modulation.hidden = "
expect 2 "$depthgrid" run far.yaml --store far -q
echo "study1: ok"
