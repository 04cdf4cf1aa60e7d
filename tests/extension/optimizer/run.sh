# The optimiser trains, and its loss falls.
train optimizer momentum.yaml
expect 0 "$depthgrid" results optimizer --json
check 'len(j["cells"]) == 2 and all(c["status"] == "completed" for c in j["cells"])'
"$sources/.venv/bin/python" - <<'PY' || fail "the loss of momentum does not fall"
import h5py
loss = h5py.File("optimizer/sweep.h5")["train_loss"][:]
assert (loss[:, -20:].mean(axis=1) < loss[:, :10].mean(axis=1) - 0.01).all(), loss
PY
