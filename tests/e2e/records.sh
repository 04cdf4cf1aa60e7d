#!/usr/bin/env bash
# What a run leaves beside its losses: logs, predictions, costs, versions, events; and what it says once.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
# The jobs are given: under load, calibrated times may cut them otherwise in a plan than in a run.
options+=(--set 'checkpoint.keep_at=[30]' --set packing.fuse=2)

# Each worker has a log; each cell finds that of its own. Its job is the one of the plan.
expect 0 "$depthgrid" plan "$sweep" "${options[@]}" --teams 2 --json
planned=$(python3 -c 'import json; print(*[job["id"] for job in json.load(open("out"))["jobs"]])')
ranks 2 store
[ "$(grep -c 'cells completed' err)" = 1 ] || fail "the line at the end should be there once"
says err '4 of 4 cells completed, 0 diverged, 0 failed'
[ "$(find store/logs -name '*.log' | wc -l)" = 2 ] || fail "two workers have two logs"
expect 0 "$depthgrid" results store --json
cell=$(python3 -c 'import json; print(json.load(open("out"))["cells"][0]["id"])')
expect 0 "$depthgrid" logs "$cell" store --json
check 'len(j["logs"]) == 1 and j["logs"][0]["lines"] == j["log"]'
check 'any(j["attempts"][0]["facts"]["job"] + " starts at step 0 of 60" in line for line in j["log"])'
check "j['attempts'][0]['facts']['job'] in '$planned'.split()"
check 'not any("layout contract" in line for line in j["log"])' # LibTorch's advice does not concern us
check 'any("rank" in line and "depthgrid-worker" in line for line in j["log"])'
expect 0 "$depthgrid" logs "$cell" store --lines 2
says out 'end of store/logs/'
[ "$(sed -n '/^end of /,$p' out | wc -l)" = 3 ] || fail "two lines of the log were asked for"

# A cell that is taken up again at step 30, by a process with more threads than cores.
folder=$(echo store/cells/*/"$cell")
rm "$folder/result.h5" "$folder"/ckpt-00000060-*
expect 0 taskset -c 0 "$depthgrid" run "$sweep" "${options[@]}" --set resources.threads=2 --store store -q
says err 'warning: '
[ "$(grep -c 'cells completed' err)" = 1 ] || fail "the line at the end should be there once"
expect 0 "$depthgrid" logs "$cell" store --json
check '[a["first_step"] for a in j["attempts"]] == [0, 30] and len(j["logs"]) == 2'
check '[e["kind"] for e in j["events"] if e["kind"] == "warning"] == ["warning"]'
"$sources/.venv/bin/python" - "$folder" "$cell" <<'PY' || fail "records of store/sweep.h5 are not as they should be"
import json
import pathlib
import sys

import h5py
import numpy as np

folder, cell = pathlib.Path(sys.argv[1]), sys.argv[2].encode()
file = h5py.File("store/sweep.h5")
for name in ("predicted_wall_time", "predicted_bytes", "cost_memory_peak", "cost_flops_token_executed"):
    values = file[name][()]
    assert values.shape == (4,) and np.all(np.isfinite(values)) and np.all(values > 0), (name, values)
assert np.array_equal(file["cost_flops_token"][()], file["cost_flops_token_executed"][()])
assert np.all(file["cost_memory_peak"][()] <= file["cost_memory_host"][()])
versions = json.loads(file.attrs["library_versions"])
assert versions["hdf5"].startswith("1.") and versions["mpi"].startswith("Open MPI"), versions
assert versions["libtorch"] and versions["compiler"], versions

# One more attempt has added its journal.
held = sum(f.stat().st_size for f in folder.iterdir() if f.name != "journal-000002")
row = list(file["cell"][()]).index(cell)
predicted = file["predicted_bytes"][row]
print(f"stored bytes: {held}, predicted {predicted:.0f}")
assert 0.5 < predicted / held < 2

# The event at the seam: the step it went on from, and the jump of the loss.
mine = [i for i, c in enumerate(file["event_cell"][()]) if c == cell]
seam = [i for i in mine if file["event_kind"][i] == 0]
assert len(seam) == 1 and file["event_step"][seam[0]] == 30, seam
loss = file["train_loss"][row]
assert abs(file["event_value"][seam[0]] - (loss[30] - loss[29])) < 1e-5
assert file["replayed_steps"][row] == 30
PY

# The published protocol adds a loss at each evaluation and changes no other number.
options=(--set eval.every=10)
train plain
train protocol --set eval.protocol=published_1
"$sources/.venv/bin/python" - <<'PY' || fail "the loss of the published protocol is not as it should be"
import h5py
import numpy as np

plain, protocol = (h5py.File(f"{store}/sweep.h5") for store in ("plain", "protocol"))
losses, all_windows = protocol["eval_loss_published"][()], protocol["eval_loss"][()][:, :, 2]
assert losses.shape == all_windows.shape == (4, 3) and "eval_loss_published" not in plain
# Other windows of the same text: near, and not the same.
assert np.all(np.abs(losses - all_windows) < 0.1) and np.all(losses != all_windows), (losses, all_windows)
for name in ("train_loss", "eval_loss", "final_loss"):
    assert np.array_equal(plain[name][()], protocol[name][()], equal_nan=True), name
PY

# What is wrong for all ranks is said once.
printf 'train: {steps: -1}\n' >bad.yaml
expect 2 mpirun -np 3 "$depthgrid" run bad.yaml
[ "$(grep -c 'is out of range' err)" = 1 ] || fail "an invalid file should be reported once"
expect 2 mpirun -np 3 "$depthgrid" run "$sweep" --nonsense
[ "$(grep -c 'nonsense' err)" = 1 ] || fail "a wrong option should be reported once"
: >no_folder
expect 73 mpirun -np 3 "$depthgrid" run "$sweep" --store no_folder
[ "$(grep -c 'no_folder' err)" = 1 ] || fail "a store that cannot be should be reported once"
expect 66 mpirun -np 3 "$depthgrid" run absent.yaml
[ "$(grep -c 'absent.yaml' err)" = 1 ] || fail "an absent file should be reported once"

# Progress as JSON: every line of stderr is a record, one says how it ended (ranks write to pipes of their own).
for launcher in "" "mpirun -np 2"; do
  rm -rf progress
  expect 0 $launcher "$depthgrid" run "$sweep" --store progress --json-progress
  python3 - err <<'PY' || fail "the records of --json-progress are not as docs/cli.md says"
import json
import sys

records = [json.loads(line) for line in open(sys.argv[1])]
assert all(r["schema"] == 1 for r in records)
kinds = [r["event"] for r in records]
assert {"job_start", "step", "job_end", "run_end"} == set(kinds) - {"note"}, kinds
assert kinds.count("run_end") == 1 and kinds.count("job_start") == kinds.count("job_end") == 2
assert all({"rank", "job", "cells", "step", "cells_done", "cells_total"} <= set(r) for r in records if r["event"] not in ("note", "run_end"))
(end,) = (r for r in records if r["event"] == "run_end")
assert end["completed"] == end["cells_total"] == 4 and end["stopped"] is False
PY
done
echo "records: ok"
