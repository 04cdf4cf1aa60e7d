#!/usr/bin/env bash
# Families that skip tokens: each way of executing has its loss and its share, cells of different capacity train
# as one job to the bits they have alone, and no figure called validation sees the future.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$@"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
cat >modes.yaml <<'YAML'
name: modes
model: {d_model: 16, n_layers: 2, n_heads: 2, positions: rope}
data: {corpus: synthetic:markov, synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 20, batch_size: 4, lr: 3e-3}
eval: {every: 10, windows: 16, final_windows: 32}
parameters:
  model.family: [tdt, mod]
when:
  - if: {model.family: tdt}
    parameters: {model.tdt.capacity: [0.25, 0.5]}
YAML
expect 0 "$depthgrid" run modes.yaml --store fused --set packing.fuse=2 -q
expect 0 "$depthgrid" run modes.yaml --store alone --set packing.fuse=1 -q
"$sources/.venv/bin/python" - <<'PY' || fail "the records of the modes are not as they should be"
import glob

import h5py
import numpy as np

modes = "dense teacher_topk teacher_threshold student_threshold student_calibrated student_running_topk random " \
        "skip_all predictor topk"
of_tdt, of_mod = range(8), [0, 6, 7, 8, 9]
cells = 0
for name in glob.glob("fused/cells/*/*/result.h5"):
    fused, alone = h5py.File(name), h5py.File(name.replace("fused", "alone", 1))
    cells += 1
    family = fused["param_model_family"][0].decode()
    own = list(of_tdt if family == "tdt" else of_mod)
    assert " ".join(m.decode() for m in fused["eval_mode"]) == modes
    loss, share = fused["final_loss_mode"][0], fused["final_executed_share"][0]
    assert np.isfinite(loss[own]).all() and np.isfinite(share[own]).all()
    assert np.isnan(np.delete(loss, own)).all()
    gamma = fused["param_model_tdt_capacity"][0] if family == "tdt" else 0.25
    teacher = 1 if family == "tdt" else 9
    assert abs(share[teacher] - gamma) < 0.01 and share[0] == 1 and share[7] == 0  # the last window is shorter
    blind = fused["eval_mode_noncausal"][0]
    assert [i for i in own if blind[i] == 1] == [teacher] and (blind[own] >= 0).all()
    validation = 4 if family == "tdt" else 8  # student_calibrated, predictor
    assert fused["final_loss"][0, 2] == loss[validation]
    parts = ("tpn", "causal") if family == "tdt" else ("predictor",)
    total = fused["train_loss"][0].astype(float)
    for part in parts:
        weight = 0.05 if part == "tpn" else 0.1
        total = total + weight * fused[f"train_loss_{part}"][0]
    assert np.allclose(total, fused["train_loss_total"][0], atol=1e-5)
    capacity = fused["routing_capacity"][0]  # looked at first and last, evaluated in between too
    assert (capacity[[0, 2], 1] == gamma).all() and np.isnan(capacity[:, 0]).all() and np.isnan(capacity[1]).all()
    assert fused["routing_rate"].shape == (1, 3, 2, 10) and fused["n_probes"][0] == 3
    for key in ("train_loss", "train_loss_total", "train_grad_norm", "eval_loss", "eval_loss_mode", "final_loss_mode",
                "routing_rate", *(f"train_loss_{part}" for part in parts)):
        assert np.array_equal(fused[key][...], alone[key][...], equal_nan=True), key
    assert fused["weights_sha256"][0] == alone["weights_sha256"][0]
assert cells == 3, cells
PY
# eval says of every mode what the run has recorded, to the bit.
for file in fused/cells/*/*/result.h5; do
  expect 0 "$depthgrid" eval fused --cell "$(basename "$(dirname "$file")")" --mode all --windows 32 --json
  "$sources/.venv/bin/python" - "$file" out <<'PY' || fail "eval of the modes of $file is not what the run has recorded"
import json
import sys

import h5py
import numpy as np

stored, modes = h5py.File(sys.argv[1]), json.load(open(sys.argv[2]))["modes"]
names = [m.decode() for m in stored["eval_mode"]]
recorded = np.isfinite(stored["final_loss_mode"][0])
assert {m["mode"] for m in modes} == {n for n, there in zip(names, recorded) if there}
for m in modes:
    at = names.index(m["mode"])
    assert m["loss"] == stored["final_loss_mode"][0, at], m
    assert abs(m["executed_share"] - stored["final_executed_share"][0, at]) < 1e-6, m
    assert m["executed_by_layer"][0] == 1 and m["executed_by_layer"][1] == m["executed_share"], m
    assert m["causal"] == (m["mode"] not in ("teacher_topk", "topk")), m
PY
done
id=$("$depthgrid" results fused --json | python3 -c '
import json, sys
print(next(c["id"] for c in json.load(sys.stdin)["cells"] if "tdt" in c["alias"]))')
expect 0 "$depthgrid" eval fused --cell "$id" --windows 32 --mode student,teacher_topk --mode skip_all --decider running_topk
says out 'student_running_topk'
says out 'teacher_topk *'
says out '* looks ahead: '
expect 2 "$depthgrid" eval fused --cell "$id" --mode everything
says err 'there are all, dense, teacher_topk'
expect 0 "$depthgrid" results fused --json
check 'all("final_loss_mode.random" in c["metrics"] for c in j["cells"])'
