#!/usr/bin/env bash
# A sweep trains from file to packed results: one process, two ranks, two runs on one store.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"

train one
expect 0 "$depthgrid" results one --json
check 'len(j["cells"]) == 4 and all(c["status"] == "completed" and c["step"] == 60 for c in j["cells"])'
check 'all(c["metrics"]["final_loss.valid"] < 2.7 for c in j["cells"])' # ln 16 = 2.77: it learns
check 'all(c["metrics"]["train_loss_last50"] > 0 and c["parameters"] > 0 for c in j["cells"])'
expect 0 "$depthgrid" status one --json
check 'j["schema"] == 1 and j["counts"]["completed"] == 4'
expect 0 "$depthgrid" results one --csv
says out 'final_loss.valid'

# The same command again: nothing to do, nothing changes.
before=$(sha256sum <one/sweep.h5)
train one
[ "$before" = "$(sha256sum <one/sweep.h5)" ] || fail "a second run changed sweep.h5"

# Two ranks share the work and give the bits of one process.
ranks 2 two
same one two

# Two runs at once on one store: every cell is trained once.
"$depthgrid" run "$sweep" "${options[@]}" --store both -q 2>first &
train both
wait $! || fail "the first of two runs failed: $(cat first)"
same one both
expect 0 "$depthgrid" status both --json
check 'j["counts"]["completed"] == 4'
for cell in both/cells/*/*; do
  [ "$(ls "$cell" | grep -c '^journal-')" = 1 ] || fail "$cell was tried more than once"
done

# A cell alone has the bits that it has among others; the plan and the run call its job alike.
expect 0 "$depthgrid" plan "$sweep" "${options[@]}" --set packing.fuse=off --store alone_store --json
jobs=$(python3 -c 'import json; print(*(job["id"] for job in json.load(open("out"))["jobs"]))')
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --set packing.fuse=off --store alone_store
for job in $jobs; do
  grep -rqF "job $job starts" alone_store/logs || fail "no log says that job $job starts"
done
same one alone_store
fused alone_store 1
train by_two --set packing.fuse=2
fused by_two 2 # cells of equal structure
same one by_two

# Readers of the users open what was written.
expect 0 "$sources/.venv/bin/python" "$sources/tests/storage/read_sweep.py" one/sweep.h5 4 train_loss final_loss

# What a killed process has left in a store: listed, then removed; nothing else is.
touch -d '2 hours ago' one/.tmp-1-left
expect 0 "$depthgrid" gc one -n --json
check 'j["removed"] is False and [f.endswith("one/.tmp-1-left") for f in j["store"]["files"]] == [True]'
expect 0 "$depthgrid" gc one
says out "store: 1 file(s)"
[ ! -e one/.tmp-1-left ] || fail "gc has left a file"
expect 0 "$depthgrid" gc one --json
check 'j["store"]["files"] == []'
train one
[ "$before" = "$(sha256sum <one/sweep.h5)" ] || fail "gc changed the store"
