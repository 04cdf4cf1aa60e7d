# Sourced by slurm.sh, slurm_matrix.sh and secrets.sh: a Slurm of virtual nodes ($lab, $labdir), how to submit to it and
# to wait for it. start_lab is skipped (77) where Slurm is not installed.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
export PATH=$PATH:/usr/sbin
lab=$sources/scripts/slurm/lab.sh labdir=$scratch/lab
trap '"$lab" stop "$labdir"; rm -rf "$scratch" || true' EXIT
options=(--set train.steps=400 --set checkpoint.every=20 --set eval.every=100 --set packing.fuse=off
  --set packing.cells_per_launch=1 --set resources.lease=5)

has_slurm() {
  local program
  for program in munged slurmctld slurmd; do
    command -v "$program" >/dev/null || return 1
  done
}
# start_lab NODES GPUS: also again, with other LAB_… variables.
start_lab() {
  has_slurm || {
    echo "skipped: Slurm is not installed"
    exit 77
  }
  "$lab" start "$labdir" "$1" "$2" >"$scratch/nodes" || fail "the lab does not start: $(cat "$scratch/nodes")"
  eval "$("$lab" env "$labdir")"
}
stop_lab() {
  "$lab" stop "$labdir"
  sleep 1
  rm -rf "$labdir"
}

submit() { # submit STORE [OPTION...]
  local store=$1
  shift
  "$depthgrid" submit "$sweep" "${options[@]}" --store "$store" "$@"
}
field() { python3 -c 'import json, sys; print(eval(sys.argv[1], {"j": json.load(open("out"))}))' "$1"; } # of the last JSON
wait_for() {                                                                                           # wait_for SECONDS WHAT COMMAND...
  local seconds=$1 what=$2
  shift 2
  for _ in $(seq $((seconds * 5))); do
    "$@" && return
    sleep 0.2
  done
  squeue -r -o '%i %T %r %N %S' >&2
  scontrol -o show jobs | grep -oE '(JobId|ArrayTaskId|JobState|Reason|Restarts|ExcNodeList|NodeList)=[^ ]*' | tr '\n' ' ' >&2 || true
  tail -n 20 "$scratch"/*/submissions/*/logs/* >&2 || true
  fail "no $what within $seconds s"
}
# A scheduler that does not answer has no empty queue: what these wait for must be said by it.
queue_empty() { local queue && queue=$(squeue -h) && [ -z "$queue" ]; }
has_left() { local queue && queue=$(squeue -h -o %A) && ! grep -qx "$1" <<<"$queue"; } # has_left JOB
has_started() { local state && state=$(squeue -h -o %T -j "$1") && [ "$state" != PENDING ]; }
a_checkpoint() { find "$1/cells" -name 'ckpt-*.h5' 2>/dev/null | grep -q .; }
task_state() { squeue -h -r -j "$1" -o %T 2>/dev/null; }
state_is() { [ "$(task_state "$1")" = "$2" ]; }
running() { [ "$(squeue -h -r -p gpu -t R | wc -l)" -ge "$1" ]; } # at least N tasks
restarts() { scontrol show job "$1" | grep -c 'Restarts=[1-9]' || true; }
all_done() { # all_done STORE [AS STORE]
  local count
  count=$(find "$1/cells" -name result.h5 | wc -l)
  if [ "$count" != "$(find "${2:-plain}/cells" -name result.h5 | wc -l)" ]; then
    "$depthgrid" status "$1" >"$scratch/out" 2>&1 || true
    tail -n 20 "$1"/submissions/*/logs/* "$1"/launches/*/attempt-* >>"$scratch/out" 2>&1 || true
    squeue -r -o '%i %T %r %N %S' >>"$scratch/out" 2>&1 || true
    fail "$count cells of $1 have a result"
  fi
  expect 0 "$depthgrid" pack "$1"
  same "${2:-plain}" "$1"
  [ "$count" = "$("$depthgrid" status "$1" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["counts"]["completed"])')" ] ||
    fail "not one result for each cell"
}
# A held task may start now: Slurm lets requeued ones wait for two minutes. Not at once, since it ends what is left of the
# last start by the same id.
hurry() {
  local job jobs
  jobs=$(squeue -h -r -t PD -o %i)
  [ -z "$jobs" ] || sleep 2
  for job in $jobs; do
    scontrol update jobid="$job" StartTime=now 2>/dev/null || true
  done
}
queue_empty_soon() {
  hurry
  queue_empty
}
# pretending FOLDER SCRIPT: a depthgrid whose worker is a script of bash that ends in `exec "$real" "$@"`.
pretending() {
  mkdir -p "$1"
  cp "$depthgrid" "$1/depthgrid"
  printf '#!/bin/bash\nreal=%q\n%s\n' "$build/depthgrid-worker" "$2" >"$1/depthgrid-worker"
  chmod +x "$1/depthgrid-worker"
}
