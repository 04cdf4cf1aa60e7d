#!/usr/bin/env bash
# Submissions to a real Slurm of four virtual nodes: nothing twice, what is missing only, time limits, preemption, a dead
# node, a controller that is away. Skipped where Slurm is not installed.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
export PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd; do
  command -v "$program" >/dev/null || {
    echo "skipped: $program is not installed"
    exit 77
  }
done
lab=$sources/scripts/slurm/lab.sh
trap '"$lab" stop "$scratch/lab"; rm -rf "$scratch"' EXIT
port=$((20000 + $$ % 20000))
"$lab" start "$scratch/lab" 4 0 "$port"
eval "$("$lab" env "$scratch/lab")"
options=(--set train.steps=400 --set checkpoint.every=20 --set eval.every=100 --set packing.fuse=off
  --set packing.cells_per_launch=1 --set resources.lease=5)
train plain

submit() { # submit STORE [OPTION...]
  local store=$1
  shift
  "$depthgrid" submit "$sweep" "${options[@]}" --store "$store" "$@"
}
wait_for() { # wait_for SECONDS WHAT COMMAND...
  local seconds=$1 what=$2
  shift 2
  for _ in $(seq $((seconds * 5))); do
    "$@" && return
    sleep 0.2
  done
  squeue >&2
  tail -n 20 "$scratch"/*/submissions/*/logs/* >&2 || true
  fail "no $what within $seconds s"
}
queue_empty() { [ -z "$(squeue -h)" ]; }
a_checkpoint() { find "$1/cells" -name 'ckpt-*.h5' 2>/dev/null | grep -q .; }
state_is() { [ "$(squeue -h -r -j "$1" -o %T 2>/dev/null)" = "$2" ]; }
all_done() {
  expect 0 "$depthgrid" pack "$1"
  same plain "$1"
}
# A held task may start now: Slurm lets requeued ones wait for two minutes.
hurry() {
  local job
  for job in $(squeue -h -r -t PD -o %i); do
    scontrol update jobid="$job" StartTime=now 2>/dev/null || true
  done
}
queue_empty_soon() {
  hurry
  queue_empty
}

# Typed twice, it submits nothing twice.
expect 0 submit once --json
check "j['tasks'] == 4 and j['cells'] == 4 and j['arrays'][0]['job'] != ''"
expect 0 submit once --json
check "j['tasks'] == 0 and j['queued'] == 4"
wait_for 60 "end of the array" queue_empty
all_done once
expect 0 submit once --json
check "j['tasks'] == 0 and j['done'] == 4"

# After half is done, the other half.
first=$("$depthgrid" results plain --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["cells"][0]["id"])')
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --store half --only "id = $first" -q
expect 0 submit half --dry-run --json
check "j['tasks'] == 3 and j['done'] == 1 and 'exec ' in j['arrays'][0]['script']"
expect 0 submit half --canary --json
check "[a['canary'] for a in j['arrays']] == [True, False] and j['cells'] == 3"
wait_for 90 "end of canary and array" queue_empty
all_done half

# What sbatch refuses is said with its cure, and nothing stays behind in the queue.
expect 78 submit refused --set slurm.partition=nowhere
says err "sinfo"
queue_empty || fail "something was submitted"
expect 2 submit refused --set 'slurm.account=a; rm -rf /'
says err "slurm.account"
expect 0 submit tested --test-only
queue_empty || fail "--test-only has submitted"

# More tasks than an array may have: chunks.
expect 0 "$depthgrid" submit "$sweep" "${options[@]}" --set seeds=600 --store half --dry-run --json
check "[a['tasks'] for a in j['arrays']] == [1001, 195] and [a['first'] for a in j['arrays']] == [0, 1001]"

# Cancelled tasks write checkpoints and do not come back.
long=(--set train.steps=20000 --set eval.every=10000)
submit ended "${long[@]}" >submitted
wait_for 60 checkpoint a_checkpoint ended
scancel "$(squeue -h -r -o %F | head -1)"
wait_for 60 "end of cancelled tasks" queue_empty
grep -q "does not ask to go back" ended/submissions/*/logs/* || fail "no task has said that it was cancelled"
expect 3 "$depthgrid" status ended --json
check "j['counts']['completed'] == 0"

# Requeued in the middle: goes on from its checkpoint, with the same bits. The signal is what comes before a time limit.
"$depthgrid" run "$sweep" "${options[@]}" "${long[@]}" --store plain_long -q
submit stopped "${long[@]}" >submitted
wait_for 60 checkpoint a_checkpoint stopped
job=$(squeue -h -r -t R -o %i | head -1)
scancel --signal=USR1 --batch "$job"
wait_for 60 "task back in the queue" state_is "$job" PENDING
# Preemption by a job of higher priority.
wait_for 60 "running task" bash -c '[ -n "$(squeue -h -r -t R -o %i)" ]'
sbatch --parsable -p high -N4 --exclusive -t 1 -o /dev/null --wrap 'sleep 2' >high
wait_for 90 "preempting job" bash -c "[ -z \"\$(squeue -h -j $(cat high))\" ]"
hurry
# A node that dies: its task goes to another one.
wait_for 90 "running task" bash -c '[ -n "$(squeue -h -r -p gpu -t R -o %i)" ]'
node=$(squeue -h -r -p gpu -t R -o %N | head -1)
kill -9 "$(cat "$scratch/lab/slurmd.$node.pid")"
pkill -9 -f "depthgrid supervise $scratch/stopped/.*" || true
wait_for 240 "end of all tasks" queue_empty_soon
expect 0 submit stopped "${long[@]}" --json
if [ "$(python3 -c 'import json; print(json.load(open("out"))["tasks"])')" != 0 ]; then
  wait_for 120 "end of what was submitted again" queue_empty_soon
fi
expect 0 "$depthgrid" pack stopped
same plain_long stopped

# A controller that is away: nothing is lost, and nothing is submitted twice afterwards.
kill "$(cat "$scratch/lab/ctld.pid")"
expect 78 submit away
slurmctld -f "$SLURM_CONF"
wait_for 30 controller scontrol ping
expect 0 submit away --json
check "j['tasks'] == 4"
wait_for 90 "end of the array" queue_empty
all_done away
