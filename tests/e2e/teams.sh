#!/usr/bin/env bash
# Data-parallel teams: two ranks on one cell agree with one rank to rounding, and with themselves to
# the bit; a killed rank ends the run, and the same command goes on.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
train one
ranks 2 team --set resources.ranks_per_job=2
ranks 2 again --set resources.ranks_per_job=2
same team again
near one team 1e-4

# Two ranks are one rank that accumulates two halves.
train halves --set train.accumulation=2
near one halves 1e-4

options=(--set train.steps=1500 --set checkpoint.every=50)
ranks 2 straight --set resources.ranks_per_job=2
mpirun -np 2 "$depthgrid" run "$sweep" "${options[@]}" --set resources.ranks_per_job=2 --store killed -q >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 1200); do
  [ "$(find killed -name 'ckpt-*.h5' 2>/dev/null | wc -l)" -ge 2 ] && break
  sleep 0.05
done
rank=$(pgrep -P "$launcher" | tail -n 1) || fail "mpirun has no rank to kill"
kill -9 "$rank" 2>/dev/null || true # the exit code tells whether it was in time
code=0
wait "$launcher" 2>/dev/null || code=$?
[ "$code" != 0 ] || fail "the run ended before a rank was killed"
ranks 2 killed --set resources.ranks_per_job=2
same straight killed
