#!/usr/bin/env bash
# Probes: the weights are the same with all of them and with none; what they see is the same fused and alone, and after
# a kill; a schedule that makes no sense is refused.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
cat >probed.yaml <<'YAML'
name: probed
model: {d_model: 16, n_layers: 3, n_heads: 2, time_features: {frequencies: 4}}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 40, batch_size: 4}
eval: {every: 20, windows: 16, final_windows: 16}
checkpoint: {every: 5}
method: list
include:
  - {model.family: standard}
  - {model.family: time_indexed, model.modulation.hidden: 4}
  - {model.family: hybrid_ode, model.replaced_layers: [1, 2], model.field.kind: time_indexed, model.modulation.hidden: 4}
  - {model.family: tdt}
  - {model.family: time_indexed, model.mixer: ssm, model.modulation.hidden: 4, model.ssm.state_size: 4}
seeds: 2
YAML
all=(--set 'probes.trajectory.schedule={every: 10}' --set 'probes.trajectory.token_classes=[all, first, frequent, rare]'
  --set probes.trajectory.state_sequences=2 --set probes.trajectory.state_channels=5
  --set 'probes.gates.schedule={at: [0, 7, "50 %"]}' --set 'probes.logit_lens.schedule={log_spaced: 4}'
  --set 'probes.gradients.schedule={every: 15}' --set 'probes.lyapunov.schedule={at: [20, 40]}' --set probes.lyapunov.exponents=2 --set probes.lyapunov.sequences=2
  --set 'probes.attention.schedule={every: 20}' --set 'probes.weights.schedule={at: [20]}'
  --set 'probes.solver.schedule={at: [20, 40]}' --set probes.solver.rtol=1e-3 --set probes.solver.max_steps=300 --set 'probes.ssm.schedule={every: 20}')
none=()
for probe in trajectory gates routing gradients logit_lens lyapunov attention weights solver ssm; do none+=(--set "probes.$probe.schedule=off"); done
run() { # run STORE OPTION...
  local store=$1
  shift
  expect 0 "$depthgrid" run probed.yaml --store "$store" -q "$@"
}
run all "${all[@]}"
run none "${none[@]}" --set checkpoint.keep_final=true --set 'checkpoint.keep_at=[20]'
h5diff -q all/sweep.h5 none/sweep.h5 /weights_sha256 /weights_sha256 || fail "probes have changed a weight"
h5diff -q all/sweep.h5 none/sweep.h5 /train_loss /train_loss || fail "probes have changed a loss"
# A line of the table of known answers, docs/diagnostics.md.
echo "| 36 | losses and weights with all probes on and with none: numbers that differ | 0 | = 0 | holds |"
if h5dump -d /probe_step none/sweep.h5 2>&1 | grep -q trajectory; then fail "a probe looked that is off"; fi

# same_probes A B: all that probes record.
same_probes() {
  local name
  for name in $(h5ls "$1/sweep.h5" | grep -oE '^(trajectory|gate|gradient|logit_lens|lyapunov|tdt|tpn|router|routing|attention|weight|solver|ssm)_[a-z0-9_]+|^alpha'); do
    h5diff -q "$1/sweep.h5" "$2/sweep.h5" "/$name" "/$name" || fail "$name of $1 and $2 differ"
  done
}
# same_states A B COUNT: the files of raw states of B are COUNT, and A has the same ones.
same_states() {
  local files file
  files=$(cd "$2" && find cells -name 'states-*' | sort)
  [ "$(wc -l <<<"$files")" -eq "$3" ] || fail "$2 has other files of states than expected: $files"
  for file in $files; do cmp "$1/$file" "$2/$file" || fail "$file of $1 and $2 differ"; done
}
same_states all all 50 # ten cells, five looks
if find none -name 'states-*' | grep -q .; then fail "states were kept that nobody asked for"; fi
run alone "${all[@]}" --set packing.fuse=off
same_probes all alone
same_states all alone 50

# Killed between looks, and resumed from checkpoints that lie elsewhere.
checkpoints_of() { find . -path "./$1/*" -name 'ckpt-*.h5' | sort; }
for _ in 1 2 3; do
  before=$(checkpoints_of killed)
  "$depthgrid" run probed.yaml --store killed -q "${all[@]}" 2>/dev/null &
  run=$!
  for _ in $(seq 600); do
    [ "$(checkpoints_of killed)" != "$before" ] && break
    sleep 0.05
  done
  worker=$(pgrep -P "$run" -f depthgrid-worker || true)
  [ -z "$worker" ] || kill -9 $worker 2>/dev/null || true # it may have ended just now
  wait "$run" 2>/dev/null || true
done
run killed "${all[@]}"
same_states all killed 50
[ "$(find killed -name 'journal-*' | wc -l)" -gt 10 ] || fail "no attempt at ten cells was interrupted"
same_probes all killed

# The axes are in the file: steps of all probes, states, classes of tokens.
"$sources/.venv/bin/python" - <<'PY' || fail "what the probes have written"
import h5py
import numpy as np

sweep = h5py.File("all/sweep.h5")
steps = sweep["probe_step"][()].tolist()
assert steps == [0, 1, 3, 7, 10, 12, 15, 20, 30, 40], steps
norm = sweep["trajectory_norm_mean"]
assert [d[0].name for d in norm.dims] == ["/cell", "/probe_step", "/depth_edge", "/token_class"], norm.dims
assert [c.decode() for c in sweep["token_class"]] == ["all", "first", "frequent", "rare"]
seen = np.isfinite(norm[:, :, 0, 0])
assert (seen == np.isin(steps, [0, 10, 20, 30, 40])).all(), seen
gates = np.isfinite(sweep["gate_mean"][:, :, -1, 0]).any(axis=1)
family = [f.decode() for f in sweep["param_model_family"]]
flows = np.isfinite(sweep["gate_mean"][()]).any(axis=(1, 2, 3))
assert [bool(x) for x in flows] == [f in ("time_indexed", "hybrid_ode") for f in family], (flows, family)
counts = sweep["gradient_clip_count"][:, [steps.index(s) for s in (0, 15, 30, 40)]]
assert (np.diff(counts) >= 0).all() and (counts[:, 0] == 0).all() and counts[:, -1].max() > 0, counts
layers = np.isfinite(sweep["gradient_norm_layer"][:, steps.index(40)]).sum(axis=1)
assert layers.tolist() == sweep["n_layer"][()].tolist(), layers
masks = sweep["routing_mask"][:, -1]  # (cell, layer, sequence, byte)
assert [bool(x) for x in np.isfinite(masks).any(axis=(1, 2, 3))] == [f == "tdt" for f in family], family
bits = np.unpackbits(masks[np.isfinite(masks)].astype("u1"), bitorder="little")
assert 0 < bits.mean() < 1, bits.mean()
churn = sweep["routing_churn"][()]
assert np.isnan(churn[:, 0]).all() and ((churn >= 0) & (churn <= 1) | np.isnan(churn)).all(), churn
alpha = np.isfinite(sweep["alpha"][()]).all(axis=1)
assert [bool(x) for x in alpha] == [f == "hybrid_ode" for f in family], alpha
entropy = sweep["attention_entropy"][:, steps.index(20)]
assert ((entropy > 0) & (entropy <= 1.001) | np.isnan(entropy)).all() and np.isfinite(entropy[:, 0]).all(), entropy
assert np.isfinite(sweep["weight_ov_singular"][:, steps.index(40), 0, 0, 0]).all()
lens = sweep["logit_lens_loss"][()]
assert np.isfinite(lens[:, steps.index(40), 0]).all()
assert (lens[:, steps.index(0)][np.isfinite(lens[:, steps.index(0)])] > 0).all()
methods = [m.decode() for m in sweep["solver_method"]]
assert sorted(methods) == ["dopri5", "euler_2m", "euler_m", "rk4"], methods
fields = np.isfinite(sweep["solver_divergence_displacement"][:, -1, methods.index("euler_m")])
assert [bool(x) for x in fields] == [f in ("time_indexed", "hybrid_ode") for f in family], (fields, family)
mixer = [m.decode() for m in sweep["param_model_mixer"]]
spaces = np.isfinite(sweep["ssm_spectral_radius"][:, -1, 0])
assert [bool(x) for x in spaces] == [m == "ssm" for m in mixer], (spaces, mixer)
PY

# Raw states lie beside the results, with their axes.
"$sources/.venv/bin/python" - <<'PY' || fail "the raw states"
import glob
import os

import h5py
import numpy as np

sweep = h5py.File("all/sweep.h5")
steps = sweep["probe_step"][()].tolist()
axes = ["/depth_edge", "/sequence_sample", "/token_position", "/channel_sample"]
channels = set()
for row, cell in enumerate(c.decode() for c in sweep["cell"][()]):
    files = sorted(glob.glob(f"all/cells/{cell[:2]}/{cell}/states-*.h5"))
    assert [os.path.basename(f) for f in files] == [f"states-{s:08}.h5" for s in (0, 10, 20, 30, 40)], files
    for file, step in zip(files, (0, 10, 20, 30, 40)):
        norm = sweep["trajectory_norm_mean"][row, steps.index(step), :, 0]
        with h5py.File(file) as look:
            state = look["state"]
            assert state.shape == (np.isfinite(norm).sum(), 2, 16, 5) and state.dtype == np.float32, state
            assert [d[0].name for d in state.dims] == axes and state.chunks == (1, 2, 16, 5), state.chunks
            owner = look.attrs["cell"]
            owner = owner.decode() if isinstance(owner, bytes) else str(owner)
            assert owner == cell and look.attrs["step"] == step, (owner, look.attrs["step"])
            assert np.isfinite(state[()]).all() and state.attrs["beyond_f16"] == 0
            assert (state[()].astype("f2") == state[()]).all() and state.attrs["significant_bits"] == 11
            assert look["depth_edge_time"][0] == 0 and look["depth_edge_time"][-1] == 1
            assert (look["state_token"][()] >= 0).all() and (look["state_token"][()] < 16).all()
            channels.add(tuple(look["channel_sample"][()].tolist()))
            rms = np.sqrt(np.mean(state[0].astype("f8") ** 2))
            assert 0.3 < rms / norm[0] < 3, (rms, norm[0])  # of 5 channels of 16
assert len(channels) == 1 and len(next(iter(channels))) == 5, channels
PY
expect 2 "$depthgrid" validate probed.yaml "${all[@]}" --set probes.trajectory.max_bytes=1000
says err "expected at most"
says err "measure less often"
expect 2 "$depthgrid" run probed.yaml --store refused "${all[@]}" --set probes.trajectory.max_bytes=1000
expect 0 "$depthgrid" plan probed.yaml --store planned --json "${all[@]}"
"$sources/.venv/bin/python" -c "
import json
plan = json.load(open('out'))
looks = {p['file_bytes_per_look'] for s in plan['structures'] for p in s['probes'] if p['name'] == 'trajectory'}
assert looks == {edges * 2 * 16 * 5 * 2 for edges in (4, 7)}, looks  # a flow has four steps in place of one
" || fail "plan does not count the raw states"

# Afterwards: stored checkpoints give the numbers that the run has written, to the bit.
probe() { # probe OPTION...: into out
  expect 0 "$depthgrid" probe none --probe trajectory,gates,routing,logit_lens,gradients,lyapunov,attention,weights,solver,ssm "$@"
}
expect 2 "$depthgrid" probe none --probe entropy
says err "there are trajectory, gates"
# A checkpoint that is missing is found before anything is looked at, and leaves no files behind.
expect 66 "$depthgrid" probe none --probe trajectory --at 40,7 --set probes.trajectory.state_sequences=1
says err "no intact checkpoint of step 7"
[[ -z "$(find none -name 'states-*' -o -name 'probe-*.h5')" ]] || fail "files of a cell that was refused"
expect 2 "$depthgrid" probe none --set train.lr=1
says err "train.lr"
expect 66 "$depthgrid" probe none --cell "$("$depthgrid" results none --csv | awk -F, 'NR == 2 { print $1 }')" --at 7
says err "no intact checkpoint of step 7; there are: 40"
settings=()
for word in "${all[@]}"; do [[ $word == --set || $word == *schedule* ]] || settings+=(--set "$word"); done
probe --at final,20 "${settings[@]}"
says out "trajectory, gates, gradients, logit_lens, lyapunov, attention, weights, solver at step 20, 40"
says out "trajectory, routing, gradients, logit_lens, lyapunov, attention, weights at step 20, 40"
says out "depthgrid pack none brings them into sweep.h5"
same_states all none 20 # of two checkpoints
expect 0 "$depthgrid" pack none
"$sources/.venv/bin/python" - <<'PY' || fail "what probe has found afterwards"
import h5py
import numpy as np

run, later = h5py.File("all/sweep.h5"), h5py.File("none/sweep.h5")
steps = {name: file["probe_step"][()].tolist() for name, file in (("run", run), ("later", later))}
compared = 0
of_runs = ("routing_rate", "routing_churn", "routing_capacity_churn")  # of an evaluation, of two looks
for name in run:
    axes = [d[0].name for d in run[name].dims if len(d)] if isinstance(run[name], h5py.Dataset) else []
    if len(axes) < 2 or axes[1] != "/probe_step" or name in of_runs: continue
    if name.startswith("gradient_") and name != "gradient_norm_depth": continue  # of the training
    for step in (20, 40):
        a = run[name][:, steps["run"].index(step)]
        if not np.isfinite(a).any() or (a.dtype.kind == "i" and (a == -1).all()): continue  # no look then
        b = later[name][:, steps["later"].index(step)]
        assert a.tobytes() == b.tobytes(), (name, step, np.nanmax(np.abs(a - b)))
        compared += 1
assert compared > 60, compared
assert all(len(x) == 64 for x in later["looks_sha256"][()])
PY
probe --json --at final --set probes.lyapunov.exponents=3
"$sources/.venv/bin/python" -c "
import json
answer = json.load(open('out'))
assert not answer['problems'] and len(answer['cells']) == 10
assert all(c['steps'] == [40] and c['file'].endswith('probe-2.h5') for c in answer['cells']), answer
" || fail "probe --json"
expect 2 "$depthgrid" probe none --probe trajectory --set probes.trajectory.state_sequences=4 --set probes.trajectory.max_bytes=9
says err "measure less often"
expect 0 "$depthgrid" probe none --probe trajectory --set probes.trajectory.state_sequences=4
says out "states-00000040-2.h5"
expect 0 "$depthgrid" pack none
"$sources/.venv/bin/python" - <<'PY' || fail "by which leaves files of looks were made"
import json
import h5py

for text in h5py.File("none/sweep.h5")["look_settings"].asstr()[()]:
    looks = json.loads(text)
    assert [x["file"] for x in looks] == ["probe-1.h5", "probe-2.h5", "probe-3.h5"], looks
    assert looks[1]["steps"] == [40] and "lyapunov" in looks[1]["probes"].split()
    assert looks[1]["set"] == {"probes.lyapunov.exponents": 3}, looks[1]
PY
expect 2 "$depthgrid" probe none --at ""
# The weights of an earlier step never pass for the trained ones.
cp -r none lost
first=$("$depthgrid" results none --csv | awk -F, 'NR == 2 { print $1 }')
find "lost/cells/${first:0:2}" -path "*$first*" -name '*00000040*' ! -name 'states-*' -delete
expect 66 "$depthgrid" probe lost --cell "$first" --probe gates
says err "no intact checkpoint of step 40"
h5dump -H -d /lyapunov_exponent none/sweep.h5 | grep -q "( 10, [0-9]*, 1, 3 )" || fail "the third exponent is not packed"

# A cell that has not ended is looked at and packed like any other, by hand and at the end of the run that goes on:
# what only its snapshot knows (verdicts of the audit, parameters) has axes that its journals lack.
cp -r none unended
rm unended/sweep.h5
mv "unended/cells/${first:0:2}/$first/result.h5" "unended/cells/${first:0:2}/$first/metrics.h5"
expect 0 "$depthgrid" probe unended --cell "$first" --probe trajectory,lyapunov --at 40 --set probes.lyapunov.exponents=4
has_row() { # has_row STATUS: of the first cell
  "$sources/.venv/bin/python" - "$1" <<'PY' || fail "the row of a cell that was looked at before it ended"
import sys
import h5py
import numpy as np

sweep = h5py.File("unended/sweep.h5")
step = sweep["probe_step"][()].tolist().index(40)
assert sweep["cell_status"][0] == int(sys.argv[1]), sweep["cell_status"][0]
assert (sweep["audit_verdict"][0] >= 0).sum() == (sweep["audit_verdict"][1] >= 0).sum() > 5
assert np.isfinite(sweep["lyapunov_exponent"][0, step, 0]).sum() == 4
assert np.isfinite(sweep["trajectory_norm_mean"][0, step]).any()
assert np.isfinite(sweep["train_loss"][0]).all() and sweep["n_parameters"][0] > 0
PY
}
expect 0 "$depthgrid" pack unended
has_row 0
run unended "${none[@]}" --set checkpoint.keep_final=true --set 'checkpoint.keep_at=[20]'
has_row 2

# What is no schedule is refused in its line, with what one looks like.
for wrong in '{every: 0}' '{often: 3}' 'sometimes' '{at: [-1]}'; do
  expect 2 "$depthgrid" validate probed.yaml --set "probes.gates.schedule=$wrong"
done
expect 2 "$depthgrid" validate probed.yaml --set 'probes.gates.schedule={often: 3}'
says err "no schedule is called 'often'"
