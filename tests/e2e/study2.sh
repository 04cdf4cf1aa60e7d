#!/usr/bin/env bash
# The configurations of the second study, at the size of a toy: each can be planned, its arms have the parameters that
# their formulas give, and a flow trains beside the blocks that it is compared with.
. "$(dirname "$0")/training_common.sh"
small=(--set model.d_model=16 --set model.n_heads=1 --set data.corpus=self --set data.tokenizer=byte --set data.join=as_is
  --set data.seq_len=16 --set train.batch_size=2 --set train.steps=4 --set eval.every=2 --set eval.windows=4
  --set eval.final_windows=4 --set seeds=2)

can_be_planned study2 "${small[@]}"

# d = 16: a block has 12 d² + 13 d = 3,280 parameters; the flow has d² + 8 d + 1 = 385 more.
flow=$sources/configs/study2/gradient_flow.yaml
expect 0 "$depthgrid" run "$flow" "${small[@]}" --store flow -q
expect 0 "$depthgrid" results flow --json
check 'len(j["cells"]) == 10 and all(c["status"] == "completed" for c in j["cells"])'
python3 - out <<'PY' || fail "parameters differ from the formulas"
import json, sys
cells = json.load(open(sys.argv[1]))["cells"]
count = {c["alias"].split(",")[0]: c["parameters"] for c in cells}
ends = 2 * 256 * 16 + 128 * 16 + 2 * 16
block = 3280
want = {"blocks6": 6 * block, "hybrid": 5 * block + 385, "blocks4": 4 * block, "blocks5": 5 * block, "tied4": 5 * block}
assert count == {tag: ends + n for tag, n in want.items()}, count
PY
expect 0 "$depthgrid" audit --preset hybrid/ode --set model.d_model=16 --set model.d_ff=64 --set model.field.hidden=64 \
  --set model.n_heads=1 --set model.vocab_size=256 --set data.seq_len=16
says out "flow.control.weight"

# The same weights, in other steps of another method.
loss_of() {  # loss_of CELL OPTIONS...
  expect 0 "$depthgrid" eval "$1" flow --windows 4 --json "${@:2}"
  python3 -c 'import json; print(json.load(open("out"))["modes"][0]["loss"])'
}
trained=$(loss_of hybrid,s0)
[ "$(loss_of hybrid,s0 --solver-steps 4 --solver-method euler)" = "$trained" ] || fail "four steps of Euler are not what was trained"
[ "$(loss_of hybrid,s0 --solver-steps 64)" != "$trained" ] || fail "the number of steps changes nothing"
expect 0 "$depthgrid" eval hybrid,s0 flow --windows 4 --solver-steps 8 --json
check 'j["solver"] == {"method": "euler", "steps": 8}'
expect 0 "$depthgrid" check decode hybrid,s0 flow --solver-steps 3 --solver-method rk4 --length 8 --prefill 3 --dtype f64
check 'j["results"][0]["difference"] < 1e-9 and len(j["results"][0]["kv_lengths"]) == 7'
expect 2 "$depthgrid" eval blocks6,s0 flow --solver-steps 8
says err "are of a flow, which blocks6,s0 has not"
expect 2 "$depthgrid" eval hybrid,s0 flow --solver-method rk5
says err "expected one of euler midpoint"

# What an approximate gradient is worth, and what a term of the loss is, are among the results.
expect 0 "$depthgrid" run "$sources/configs/study2/gradient_modes.yaml" "${small[@]}" --only 'tag = adjoint4' \
  --set probes.gradients.norms=true --store adjoint -q
expect 0 "$depthgrid" results adjoint
says out "gradient_adjoint_error"
expect 0 "$depthgrid" results adjoint --json
check '[c["metrics"]["regulariser_spectral_norm_converged"] > 0 for c in j["cells"] if c["status"] == "completed"] == [True, True]'
check '[0 < c["metrics"]["gradient_adjoint_error"] < 0.5 for c in j["cells"] if c["status"] == "completed"] == [True, True]'
expect 2 "$depthgrid" check forward --family hybrid_ode --solver-steps 8
says err "set \`model.solver.steps\` with --set"
expect 0 "$depthgrid" check gradcheck --family hybrid_ode --set model.gradient.mode=checkpoint --set regularisers.energy=0.1 \
  --set regularisers.log_norm=0.1 --set regularisers.iterations=2
check 'j["pass"] and "directions of regularisers" in j["results"][0]["held"]'

# A control signal steers generation; none, and zeros where the map has no bias, are the same.
cat >steered.yaml <<'YAML'
model: {family: hybrid_ode, d_model: 16, n_layers: 3, n_heads: 1, positions: rope, control: {dim: 2}}
data: {corpus: self, tokenizer: byte, join: as_is, seq_len: 16}
train: {steps: 4, batch_size: 2}
eval: {every: null, final_windows: 4}
YAML
expect 0 "$depthgrid" run steered.yaml --store steered -q
cell() { "$depthgrid" results "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["cells"][0]["id"])'; }
continued() {  # continued STORE OPTIONS...
  expect 0 "$depthgrid" generate "$1" --cell "$(cell "$1")" --prompt 'a flow' --tokens 40 --seed 3 --json "${@:2}"
  python3 -c 'import json; print(json.load(open("out"))["tokens"])'
}
none=$(continued steered)
[ "$(continued steered --control 0,0)" = "$none" ] || fail "a signal of zeros is not neutral"
[ "$(continued steered --control 300,-200)" != "$none" ] || fail "a signal moves nothing"
check 'j["control"] == [300, -200]'
displacement() {  # displacement OPTIONS...
  expect 0 "$depthgrid" probe steered --probe trajectory --json "$@"
  "$sources/.venv/bin/python" -c 'import h5py, json; print(h5py.File(json.load(open("out"))["cells"][0]["file"])["trajectory_displacement"][:].tolist())'
}
[ "$(displacement --control 0,0)" = "$(displacement)" ] || fail "zeros move a trajectory"
[ "$(displacement --control 300,-200)" != "$(displacement)" ] || fail "a signal moves no trajectory"
# A rule that reads the states tells the sign of such a signal where it has entered, and guesses where it has not.
expect 0 "$sources/.venv/bin/python" "$sources/scripts/signal_probe.py" "$PWD/steered" "$(cell steered)" \
  --signal 300,-200 --sequences 256 --program "$depthgrid" --json
check 'j["depths"][0]["displacement"]["share"] == j["depths"][0]["majority"] and j["depths"][0]["moved"] == 0'
check 'j["depths"][-1]["displacement"]["low"] > 0.9 and j["depths"][-1]["state"]["tests"] == 128'
expect 0 "$depthgrid" probe steered --probe trajectory --control 300,-200
expect 0 "$depthgrid" pack steered
"$sources/.venv/bin/python" -c 'import h5py; print(h5py.File("steered/sweep.h5")["look_settings"].asstr()[:].tolist())' >said
says said '"set":{"model.control.u":[300.0,-200.0]}'
expect 2 "$depthgrid" generate steered --cell "$(cell steered)" --prompt x --control 1
says err "has 2 axes (model.control.dim)"
expect 2 "$depthgrid" generate steered --cell "$(cell steered)" --prompt x --control 1,two
says err "--control has 'two'"
expect 2 "$depthgrid" generate flow --cell "$(cell flow)" --prompt x --control 1
says err "no control input"
echo "study2: ok"
