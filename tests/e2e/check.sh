#!/usr/bin/env bash
# check: the arithmetic of gates, passes, caches and gradients, from outside, in JSON. Numbers and tolerances are those
# of the specification of the temporal dynamic transformer; check.py and check_layer.py compute what they
# compare with by themselves.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$@"
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for script in check check_layer; do
  "$sources/.venv/bin/python" "$sources/tests/e2e/$script.py" "$depthgrid" || fail "$script.py"
done

# A cell of a store, under the decider that it was trained for.
cat >small.yaml <<'YAML'
name: small
model: {family: tdt, d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: synthetic:markov, synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 5, batch_size: 4}
eval: {every: 5, windows: 4, final_windows: 4, modes: [dense]}
YAML
expect 0 "$depthgrid" run small.yaml --store stored -q
expect 0 "$depthgrid" check decode stored --cell baseline --length 40 --dtype f64
check 'j["schema"] == 1 and j["check"] == "decode" and len(j["results"]) == 1'
check 'j["results"][0]["decider"] == "calibrated" and len(j["results"][0]["thresholds"]) == 1'
check 'j["results"][0]["difference"] < 1e-9 and 0 < j["results"][0]["layers"][0]["rate"] < 0.6'
cp out first
expect 0 "$depthgrid" check decode stored --cell baseline --length 40 --dtype f64
cmp -s first out || fail "the same check answers differently"

# What is asked for must make sense.
tiny=(--family tdt --set model.d_model=16 --set model.n_layers=2 --set model.n_heads=2 --set data.seq_len=16)
expect 2 "$depthgrid" check
expect 2 "$depthgrid" check gates
expect 2 "$depthgrid" check forward
expect 2 "$depthgrid" check forward "${tiny[@]}" --preset tdt/default
expect 2 "$depthgrid" check gate --prefill 3
says err "'prefill' is unknown; check gate takes dtype, dx, dx_hat"
expect 66 "$depthgrid" check gate --input nowhere.json
echo '{"dx": [[1, 2], [3]]}' >ragged.json
expect 65 "$depthgrid" check gate --input ragged.json
says err "check gate, case 0: dx: expected lists of one length at each level"
echo '{"masks": [[[1, 0, 2]]], "rows": 1, "length": 3}' >masks.json
expect 65 "$depthgrid" check forward "${tiny[@]}" --input masks.json
echo '{"masks": [[[1, 0]]], "rows": 1, "length": 3}' >masks.json
expect 65 "$depthgrid" check forward "${tiny[@]}" --input masks.json
says err "expected true, false, or [1, 1, 3]: dynamic layers, sequences, tokens"
echo '{"tokens": [1, 999999]}' >tokens.json
expect 65 "$depthgrid" check forward "${tiny[@]}" --input tokens.json
expect 2 "$depthgrid" check forward "${tiny[@]}" --mode dense --decider running_topk
expect 2 "$depthgrid" check decode "${tiny[@]}" --mode teacher_topk
says err "it ranks a whole text"
expect 2 "$depthgrid" check forward "${tiny[@]}" --mode predictor
expect 2 "$depthgrid" check gradcheck "${tiny[@]}" --set model.tdt.gate_grad_to_trunk=true
# No derivative is as exact as this.
expect 1 "$depthgrid" check gradcheck "${tiny[@]}" --threshold 1e-18
check 'j["pass"] is False and not all(g["pass"] for g in j["results"][0]["groups"])'
