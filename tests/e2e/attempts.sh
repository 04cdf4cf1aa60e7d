#!/usr/bin/env bash
# How often a cell is attempted: kills from outside never use up retry.crash, crashes do; --rerun begins again.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
long=(--set train.steps=1000000 --set eval.every=null --set checkpoint.every=null --set retry.crash=1 --set seeds=1
  --set packing.fuse=off)

# attempt STORE SIGNAL: a run whose worker gets the signal as soon as a cell has begun once more
attempt() {
  local before
  mkdir -p "$1"
  before=$(find "$1" -name 'journal-*' | wc -l)
  "$depthgrid" run "$sweep" "${long[@]}" --store "$1" -q 2>err &
  run=$!
  for _ in $(seq 1200); do
    [ "$(find "$1" -name 'journal-*' -size +0 | wc -l)" -gt "$before" ] && break
    kill -0 "$run" 2>/dev/null || break
    sleep 0.02
  done
  worker=$(pgrep -P "$run" -f depthgrid-worker || true)
  [ -z "$worker" ] || kill "-$2" $worker
  # After a crash it would start its worker again: stopped in the pause before that.
  for _ in $(seq 1200); do
    kill -0 "$run" 2>/dev/null || break
    ! grep -q 'started again' err || kill -TERM "$run" 2>/dev/null || true # it may have ended just now
    sleep 0.02
  done
  code=0
  wait "$run" || code=$?
}

# Every attempt begins at step 0 and ends there: the first checkpoint comes after seconds.
for _ in 1 2 3 4 5; do
  attempt killed KILL
  says err 'ended as killed (signal 9'
done
expect 3 "$depthgrid" status killed --json
check 'j["counts"]["failed"] == 0'
[ "$(find killed/logs -name 'crash-*' | wc -l)" = 0 ] || fail "a kill from outside was taken for a crash"

# Only crashes that get no further than the one before count, and a signal comes at any step.
for _ in $(seq 20); do
  attempt crashed SEGV
  says err 'ended as crash (signal 11'
  [ -z "$(find crashed -name "failed-*")" ] || break # the cell is given up, others train
done
[ "$(find crashed/logs -name 'crash-*' | wc -l)" -ge 3 ] || fail "a crash left no mark"
expect 3 "$depthgrid" status crashed --json
check 'any("without getting beyond step" in p["problem"] for p in j["problems"])'

# A cell that is done is trained again, to the same numbers; its earlier files are kept, the others untouched.
options=()
train again
cp -r again copy
cell=$("$depthgrid" results again --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["cells"][1]["id"])')
expect 0 "$depthgrid" run "$sweep" --store again --rerun "$cell"
says err 'it is trained again'
same again copy
[ -f again/cells/*/"$cell"/earlier-1/result.h5 ] || fail "the earlier result is gone"
[ "$(find again -name result.h5 | wc -l)" = 5 ] || fail "another cell was touched"
expect 0 "$depthgrid" logs "$cell" again --json
check 'len(j["attempts"]) == 1 and j["attempts"][0]["generation"] > 1'
expect 2 "$depthgrid" run "$sweep" --store again --rerun nonsense
says err "nonsense"
expect 2 "$depthgrid" run "$sweep" -n --rerun "$cell"
echo "attempts: ok"
