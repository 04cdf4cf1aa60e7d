#!/usr/bin/env bash
# Killed at any time, damaged or stopped by a signal: the same command ends with the same bits.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
options=(--set train.steps=400 --set checkpoint.every=20 --set eval.every=50)
train undisturbed

# kill -9 of the worker, again and again: at a new checkpoint and a part of a second after it, so that
# every attempt gets on and is cut at another place of its steps, on a fast and on a slow machine.
checkpoints_of() { find . -path "./$1/*" -name 'ckpt-*.h5' | sort; }
for delay in 0.00 0.02 0.05 0.01 0.03; do
  before=$(checkpoints_of killed)
  "$depthgrid" run "$sweep" "${options[@]}" --set retry.infrastructure=0 --store killed -q 2>/dev/null &
  run=$!
  for _ in $(seq 1200); do
    [ "$(checkpoints_of killed)" != "$before" ] && break
    sleep 0.05
  done
  sleep "$delay"
  worker=$(pgrep -P "$run" -f depthgrid-worker || true)
  [ -z "$worker" ] || kill -9 $worker 2>/dev/null || true # it may have ended just now
  wait "$run" 2>/dev/null || true
done
train killed
same undisturbed killed
attempts=$(find killed -name 'journal-*' | wc -l)
[ "$attempts" -gt 4 ] || fail "no attempt was interrupted ($attempts journals)"

# Without any leaf about checkpoints the first comes soon: a killed run does not begin again.
plain=("$depthgrid" run "$sweep" --set train.steps=1000000 --set eval.every=null --set checkpoint.every=null)
"${plain[@]}" --set retry.infrastructure=0 --store plain -q 2>/dev/null &
run=$!
for _ in $(seq 1200); do
  [ -n "$(checkpoints_of plain)" ] && break
  sleep 0.05
done
[ -n "$(checkpoints_of plain)" ] || fail "no checkpoint in a minute"
kill -9 "$(pgrep -P "$run" -f depthgrid-worker)"
wait "$run" 2>/dev/null || true
DEPTHGRID_ISA=base "${plain[@]}" --store plain 2>err &
run=$!
for _ in $(seq 400); do
  grep -rqE 'starts at step [1-9]' plain/logs && break
  sleep 0.05
done
kill -INT "$run"
wait "$run" || true
grep -rqE 'starts at step [1-9]' plain/logs || fail "it began again"
# The second attempt used other kernels: its sums may differ in their last bits, and the cell says so.
if grep -qw avx2 /proc/cpuinfo; then
  expect 0 "$depthgrid" logs "$("$depthgrid" results plain --json | python3 -c 'import json, sys
print(max(json.load(sys.stdin)["cells"], key=lambda c: c["step"] or 0)["id"])')" plain --json
  check 'any("goes on with other instructions" in e["message"] and ", base;" in e["message"] for e in j["events"])'
fi

# kill -9 of depthgrid itself: its worker does not train on, it stops as after a signal.
"$depthgrid" run "$sweep" "${options[@]}" --set train.steps=100000 --store orphaned -q 2>/dev/null &
run=$!
for _ in $(seq 1200); do
  [ -n "$(checkpoints_of orphaned)" ] && break
  sleep 0.05
done
worker=$(pgrep -P "$run" -f depthgrid-worker) || fail "there is no worker"
kill -9 "$run"
wait "$run" 2>/dev/null || true
for _ in $(seq 400); do
  kill -0 "$worker" 2>/dev/null || break
  sleep 0.05
done
if kill -0 "$worker" 2>/dev/null; then fail "the worker of a killed depthgrid trains on"; fi
expect 0 "$depthgrid" logs "$("$depthgrid" results orphaned --json | python3 -c 'import json, sys
print(next(c["id"] for c in json.load(sys.stdin)["cells"] if c["step"] > 0))')" orphaned --json
check 'j["attempts"][0]["outcome"] == "preempted"'

# A signal checkpoints and leaves with 75; the newest checkpoint is then damaged in one byte.
"$depthgrid" run "$sweep" "${options[@]}" --set train.steps=1500 --store stopped -q 2>err &
run=$!
for _ in $(seq 1200); do
  [ "$(find stopped -name 'ckpt-*.h5' 2>/dev/null | wc -l)" -ge 4 ] && break
  sleep 0.05
done
kill -INT "$run"
code=0
wait "$run" || code=$?
[ "$code" = 75 ] || fail "SIGINT: exit code $code, not 75"
expect 3 "$depthgrid" status stopped
newest=$(find stopped -name 'ckpt-*.h5' | sort -t- -k2 | tail -n 1)
size=$(stat -c %s "$newest")
printf '\xff' | dd of="$newest" bs=1 seek=$((size / 2)) conv=notrunc status=none
options=(--set train.steps=1500 --set checkpoint.every=20 --set eval.every=50)
train stopped
[ "$(find stopped -path '*corrupt*' -name 'ckpt-*.h5' | wc -l)" = 1 ] || fail "the damaged checkpoint was not quarantined"
train straight
same straight stopped
expect 0 h5dump -d /attempt_first_step stopped/sweep.h5
grep -qE '\([0-9]+\):.*[1-9][0-9]+' out || fail "no attempt went on from a later step"
expect 0 h5dump -d /replay_mismatches stopped/sweep.h5
grep -qE '\(0\): 0, 0, 0, 0' out || fail "replayed steps differ from the first time"
