#!/usr/bin/env bash
# audit: the contract, the cache, levels; run audits by itself and stores the verdicts.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"

expect 0 "$depthgrid" audit "$sweep" --json
check 'j["schema"] == 1 and len(j["structures"]) == 2 and "checks" not in j'
check 'all(len(s["checks"]) == 13 and s["parameters"]["stored"] == s["parameters"]["closed_form"] for s in j["structures"])'
check 'all(c["verdict"] == "pass" for s in j["structures"] for c in s["checks"])'
[ -n "$(find cache/depthgrid/audit -name '*.json')" ] || fail "no cache"
cp out first
expect 0 "$depthgrid" audit "$sweep" --json
cmp -s first out || fail "the second audit does not come from the cache"

expect 0 "$depthgrid" audit --preset published/time_indexed_mlp --json \
  --set audit.entropy_floor=off --set audit.overfit_batch=off
check 'j["parameters"]["stored"] == 715840 and j["preset"] == "published/time_indexed_mlp"'
check '[c["verdict"] for c in j["checks"]][6:8] == ["off", "off"]'
check 'any(d["what"] == "attention" and "future" in d["published"] for d in j["deviations"])'
expect 2 "$depthgrid" audit "$sweep" --family standard
expect 2 "$depthgrid" audit
expect 2 "$depthgrid" audit --family no_such

# Every scheme of start values may train; cells that differ in γ, one of which skips nothing, are audited together.
small=(--set model.d_model=16 --set model.n_layers=2 --set model.n_heads=2 --set data.seq_len=12 --set data.corpus=synthetic:markov --set data.synthetic.vocab_size=32)
for scheme in pytorch gpt2 xavier; do
  expect 0 "$depthgrid" audit --family hybrid_ode "${small[@]}" --set model.tie_embeddings=true --set model.init.scheme=$scheme \
    --set audit.entropy_floor=off --set audit.overfit_batch=off
done
expect 0 "$depthgrid" audit --family tdt "${small[@]}" --set model.tdt.capacity=1,0.5 --set audit.overfit_batch=off --json
check 'len(j["structures"]) == 1 and all(c["verdict"] in ("pass", "off") for c in j["checks"])'

# A start that is sure of its guesses is a warning: it may be meant.
expect 0 "$depthgrid" audit --family standard --set model.d_model=32 --set model.n_layers=2 --set model.init.std=1 \
  --set audit.entropy_floor=off --set audit.overfit_batch=off
says out "confident guesses"

# A model whose layers cannot learn: refused with 1, by audit and by run, unless it is meant.
bad=(--set model.residual.scale=0 --set audit.leaves=off)
expect 1 "$depthgrid" audit --family standard --set model.d_model=32 --set model.n_layers=2 "${bad[@]}"
says out "gradient_flow"
says out "FAIL"
expect 1 "$depthgrid" run "$sweep" "${bad[@]}" --store refused -q
says err "the audit refuses to train"
says err "gradient_flow"
expect 3 "$depthgrid" status refused --json
check 'j["counts"]["pending"] == 4'
expect 0 "$depthgrid" run "$sweep" "${bad[@]}" --store refused -q --set audit.gradient_flow=off

# The structure that is audited is named, so that a long wait is no riddle; one whose verdicts are known is not.
deep=(--set model.n_layers=3 --set train.steps=2)
expect 0 "$depthgrid" run "$sweep" "${deep[@]}" --store first_time
says err "auditing hidden=4,s0 (structure 1 of 2"
expect 0 "$depthgrid" run "$sweep" "${deep[@]}" --store known
if grep -q auditing err; then fail "it says that it audits what it knows"; fi

# Verdicts are with the results, the same after a second look and under mpirun.
train one
ranks 2 two
for variable in audit_verdict audit_value audit_threshold audit_declaration; do
  h5diff -q one/sweep.h5 two/sweep.h5 "/$variable" "/$variable" || fail "$variable differs"
done
"$sources/.venv/bin/python" - <<'PY' || fail "verdicts in the stores"
import h5py

one, refused = h5py.File("one/sweep.h5"), h5py.File("refused/sweep.h5")
checks = [c.decode() for c in one["audit_check"]]
assert checks[0] == "causality" and len(checks) == 13, checks
assert (one["audit_verdict"][()] == 0).all(), one["audit_verdict"][()]
off = checks.index("gradient_flow")
assert (refused["audit_verdict"][:, off] == 3).all() and (refused["audit_verdict"][:, 0] == 0).all()
PY
