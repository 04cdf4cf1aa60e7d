#!/usr/bin/env bash
# Submissions to a real Slurm of four virtual nodes: nothing twice, what is missing only, arrays in chunks, a cell that
# fails, a signal to one task, refusals, drained nodes, packed cards, a dead node, a controller that is away. More, and
# slower, in slurm_matrix.sh. Skipped where Slurm is not installed.
source "$(dirname "${BASH_SOURCE[0]}")/slurm_common.sh" "$@"
LAB_MAX_ARRAY_SIZE=3 LAB_MAX_TIME=8:00:00 start_lab 4 4
train plain
ids=$("$depthgrid" results plain --json | python3 -c 'import json,sys; print(*(c["id"] for c in json.load(sys.stdin)["cells"]))')
read -r -a ids <<<"$ids"

# Before there is a store: what would be submitted, and what sbatch says; nothing is written.
expect 0 submit none --dry-run --json
check "j['tasks'] == 4 and all('/none/submissions/' in a['script'] for a in j['arrays'])"
expect 0 submit none --test-only
[ ! -e none ] || fail "looking has made a store"

# Typed twice, it submits nothing twice. Four tasks do not fit into one array here. The site's sbatch has much to say,
# and the store has what sbatch takes for the number of an array in its path.
(squeue() { return 1; } && ! queue_empty) || fail "a controller that does not answer has no empty queue"
mkdir greeting
printf '#!/bin/bash\necho ------------\necho "4 nodes are up"\n%s "$@"\ncode=$?\necho "2 hours are left"\nexit $code\n' \
  "$(command -v sbatch)" >greeting/sbatch
chmod +x greeting/sbatch
once=50%A
expect 0 env PATH="$PWD/greeting:$PATH" "$depthgrid" submit "$sweep" "${options[@]}" --store "$once" --json
check "j['tasks'] == 4 and j['cells'] == 4 and [a['tasks'] for a in j['arrays']] == [3, 1]"
check "[a['first'] for a in j['arrays']] == [0, 3] and all(int(a['job']) > 0 for a in j['arrays'])"
expect 0 submit "$once" --json
check "j['tasks'] == 0 and j['queued'] == 4"
wait_for 60 "end of the arrays" queue_empty
all_done "$once"
[ "$(find "$once" -path '*/logs/*.out' | wc -l)" = 4 ] || fail "not four logs: $(find "$once" -path '*/logs/*')"
expect 0 submit "$once" --json
check "j['tasks'] == 0 and j['done'] == 4"

# Two sweeps in one store: the tasks of the first have what they were submitted with, though the store has a newer plan.
expect 0 submit both --set "slurm.extra=[--hold]" --json
check "j['tasks'] == 4"
expect 0 submit both --set model.modulation.hidden=16 --set seeds=1 --json
check "j['tasks'] == 1"
wait_for 60 "end of the second sweep" bash -c '[ "$(squeue -h -r | wc -l)" = 4 ]'
scontrol release "$(squeue -h -o %A | head -1)" "$(squeue -h -o %A | tail -1)"
wait_for 60 "end of the first sweep" queue_empty
[ "$(find both/cells -name result.h5 | wc -l)" = 5 ] || fail "not five results"
[ "$(find both -maxdepth 1 -name 'plan*.h5' | wc -l)" = 2 ] || fail "tasks have published plans"

# After one is done, the others; its neighbour is in the hands of a run.
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --store half --only "id = ${ids[0]}" -q
expect 0 submit half --dry-run --json
check "j['tasks'] == 3 and j['done'] == 1 and 'exec ' in j['arrays'][0]['script']"
"$depthgrid" run "$sweep" "${options[@]}" --set train.steps=100000 --store held --only "id != x" -q 2>/dev/null &
run=$!
wait_for 60 checkpoint a_checkpoint held
expect 0 submit held --set train.steps=100000 --dry-run
says out "trained by a run at work"
kill "$run"
wait "$run" || true
expect 0 submit held --set train.steps=100000 --dry-run --json
check "j['held'] == 0 and j['cells'] == 4"
expect 0 submit half --canary --json
check "[a['canary'] for a in j['arrays']] == [True, False] and j['cells'] == 3"
wait_for 90 "end of canary and array" queue_empty
all_done half

# A cancelled cell whose task is a canary: Slurm would remove those that wait for it, so it stays and finds nothing to do.
expect 0 submit spared --canary --set "slurm.extra=[--hold]" --json
check "[a['tasks'] for a in j['arrays']] == [2, 2] and j['arrays'][0]['canary']"
canary=$(head -1 spared/submissions/*/tasks.txt)
expect 0 "$depthgrid" cancel spared --filter 'hidden = 99'
[ "$(squeue -h -r | wc -l)" = 4 ] || fail "no cell was named, and tasks have left the queue"
expect 0 "$depthgrid" cancel "$canary" spared --json
check "j['cells'][0]['outcome'] == 'cancelled' and 'slurm_tasks' not in j"
scontrol release "$(squeue -h -o %A | sort -n | head -1)" "$(squeue -h -o %A | sort -n | tail -1)"
wait_for 60 "end of canary and array" queue_empty
[ "$(find spared/cells -name result.h5 | wc -l)" = 3 ] || fail "not three results"

# What Slurm refuses, or would let wait for ever, is said with its cure, and nothing stays behind in the queue.
expect 78 submit refused --set slurm.partition=nowhere
says err "sinfo"
expect 78 submit refused --set resources.time=9:00:00
says err "9:00:00 is above the limit of partition gpu (8:00:00)"
says err "could also be high (2-00:00:00)"
expect 2 submit refused --set 'slurm.account=a; rm -rf /'
says err "slurm.account"
expect 2 submit refused --set 'slurm.extra=[--comment=mine]'
says err "tasks are found in the queue by it"
expect 2 submit refused -- --array=0-9
SBATCH_WAIT=1 expect 2 submit refused
says err "SBATCH_WAIT"
SBATCH_NO_REQUEUE=1 expect 2 submit refused
says err "slurm.requeue"
expect 2 submit refused -- --exclude=n1
says err "slurm.exclude"
expect 78 submit refused -- -t 9:00:00
says err "--time after --: 9:00:00 is above the limit of partition gpu (8:00:00)"
SBATCH_TIMELIMIT=9:00:00 expect 78 submit refused
says err "SBATCH_TIMELIMIT: 9:00:00"
expect 0 submit refused --dry-run --json -- -t 2
check "all('--signal=B:USR1@60' in a['script'] for a in j['arrays'])"
expect 0 submit tested --test-only --json
check "'to start' in j['sbatch'] and j['tasks'] == 4 and not any(a['job'] for a in j['arrays'])"
queue_empty || fail "something was submitted"
expect 0 submit tested --set resources.time=9:00:00 --test-only -- -p high

# One task fails, the others do not notice; it is not submitted again until somebody says so.
DEPTHGRID_FAULT=abort@200@${ids[1]} submit poisoned --set retry.crash=0 --set retry.backoff=0.1 >submitted
wait_for 60 "end of the arrays" queue_empty
expect 4 "$depthgrid" status poisoned --json
check "j['counts']['completed'] == 3 and j['counts']['failed'] == 1 and j['problems'][0]['id'] == '${ids[1]}'"
expect 0 submit poisoned
says out "3 cells done, 0 in the queue or running, 1 failed for good (depthgrid retry submits them again); nothing to submit"
expect 0 "$depthgrid" status poisoned --events --json
check "any(e['kind'] == 'submitted' and e['jobs'] and e['cell_count'] == 4 for e in j['events'])"
check "len({e['task'] for e in j['events'] if e['kind'] == 'supervisor_ended'}) == 4 and all(e['known_from'] == 'event' for e in j['events'])"
expect 0 "$depthgrid" why poisoned "${ids[1]}" --json
check "[(c['answer'], len(c['logs']['tasks']), [w.split()[1] for w in c['commands']]) for c in j['cells']] == [('failed', 1, ['retry', 'submit'])]"
expect 0 "$depthgrid" retry poisoned --class oom
expect 0 submit poisoned --json
check "j['tasks'] == 0 and j['failed'] == 1"
expect 0 "$depthgrid" retry poisoned --class crash
expect 0 submit poisoned --json
check "j['tasks'] == 1 and j['cells'] == 1"
wait_for 60 "end of the array" queue_empty
all_done poisoned

# Cancelled tasks write checkpoints and do not come back.
# One task a node.
long=(--set train.steps=3000 --set checkpoint.every=100 --set eval.every=1500 --set "slurm.extra=[--exclusive]"
  --set resources.device=cpu) # --exclusive gives a task the cards of its node, which are no GPUs
submit ended "${long[@]}" >submitted
wait_for 60 checkpoint a_checkpoint ended
scancel -u "$(id -un)"
wait_for 60 "end of cancelled tasks" queue_empty
grep -q "does not ask to go back" ended/submissions/*/logs/* || fail "no task has said that it was cancelled"
expect 3 "$depthgrid" status ended --json
check "j['counts']['completed'] == 0"

# A drained node: its tasks wait, and are not submitted again.
scontrol update nodename=n1 state=drain reason=test
expect 0 submit drained --set slurm.nodelist=n1 --json
wait_for 30 "reason" bash -c "squeue -h -r -o %r | grep -q 'ReqNodeNotAvail'"
expect 0 submit drained --set slurm.nodelist=n1 --json
check "j['tasks'] == 0 and j['queued'] == 4"
scontrol update nodename=n1 state=resume
wait_for 90 "end of the arrays" queue_empty_soon
all_done drained

# Four jobs at a time on a node of four cards: each launch sees one, and each its own. The cards are no GPUs, so that
# the workers must not see them.
pretending packing 'echo "${CUDA_VISIBLE_DEVICES-none} $SLURMD_NODENAME" >>"'"$scratch"'/cards"; exec env CUDA_VISIBLE_DEVICES= "$real" "$@"'
"$scratch/packing/depthgrid" submit "$sweep" "${options[@]}" --store packed --set resources.device=auto \
  --set resources.gpus=4 --json >out
check "j['tasks'] == 1 and j['cells'] == 4"
wait_for 60 "end of the array" queue_empty
[ "$(sed -n 's/^\([0-3]\) n.*/\1/p' cards | sort -u | tr -d '\n')" = 0123 ] || fail "cards of the launches: $(cat cards)"
[ "$(grep -c '^[0-3] n' cards)" = 4 ] || fail "cards of the launches: $(cat cards)"
all_done packed

# An interactive allocation, with a supervisor in a step of a launcher that knows nothing of MPI.
expect 0 env DEPTHGRID="$depthgrid" "$sources/scripts/slurm/interactive.sh" "$sweep" "${options[@]}" --store interactive \
  -q -j 2 -- -n1 -c2 -t 5
same plain interactive

# Two nodes of four cards: a launch has a card and its share of a node's cores, whatever -j and the packing say.
pretending spreading 'echo "$SLURM_STEP_ID ${CUDA_VISIBLE_DEVICES-none} ${SLURM_CPUS_PER_TASK-}" >>"'"$scratch"'/spread"; exec env CUDA_VISIBLE_DEVICES= "$real" "$@"'
expect 0 env DEPTHGRID="$scratch/spreading/depthgrid" "$sources/scripts/slurm/interactive.sh" "$sweep" "${options[@]}" \
  --set packing.cells_per_gpu=2 --store spread_out -q -j 20 -- -N2 -c8 --gres=gpu:4 -t 5
says err "8 at a time, not 20"
[ "$(grep -cE '^[0-9]+ [0-3] 2$' spread)" = 4 ] || fail "cards and cores of the launches: $(cat spread)"
all_done spread_out

# The signal before the time limit, to the task whose id is the array's: it alone goes back. A node dies: its tasks go
# to others. What they had is kept, and goes on with the same bits.
# Slurm takes up to 5 s to put a task back, and the others must not be done by then.
longer=("${long[@]}" --set train.steps=12000 --set eval.every=6000)
"$depthgrid" run "$sweep" "${options[@]}" "${longer[@]}" --store plain_long -q -j 2
submit stopped "${longer[@]}" >submitted
wait_for 60 "running tasks" running 4
wait_for 60 checkpoint a_checkpoint stopped
first=$(squeue -h -r -o '%F_%K %A %F' | awk '$2 == $3 { print $1; exit }')
[ -n "$first" ] || fail "no task has the id of its array"
others=$(squeue -h -r -o %i | grep -vxF "$first")
scancel --signal=USR1 --batch "$first"
wait_for 60 "task back in the queue" state_is "$first" PENDING
for other in $others; do state_is "$other" RUNNING || fail "$other is $(task_state "$other"), not running"; done
[ "$(restarts "$first")" = 1 ] || fail "$first has not been requeued"
victim=$(echo "$others" | head -1)
node=$(squeue -h -r -j "$victim" -o %N)
kept=$(squeue -h -r -t R -o '%i %N' | awk -v node="$node" '$2 != node { print $1; exit }')
"$lab" kill "$labdir" "$node"
sleep 1
state_is "$kept" RUNNING || fail "task $kept of another node has died, too"
scontrol update nodename="$node" state=down reason=killed # what Slurm notices after SlurmdTimeout
wait_for 30 "task back in the queue" state_is "$victim" PENDING
wait_for 120 "end of all tasks" queue_empty_soon
all_done stopped plain_long
grep -q '"slurm_job": "'"$victim"'"' stopped/launches/*/attempt-*.json || fail "no launch of $victim"

# A controller that is lost while it answers: it has the second array, and its id was never learnt. The next submit finds
# it by its comment, and submits what is missing alone.
mkdir losing
cat >losing/sbatch <<S
#!/bin/bash
[ "\$1" = --version ] && exec $(command -v sbatch) "\$@"
mkdir "$scratch/losing/once" 2>/dev/null && exec $(command -v sbatch) "\$@"
$(command -v sbatch) "\$@" >/dev/null || exit
controller=\$(cat "$labdir/ctld.pid")
kill "\$controller"
while [ -d "/proc/\$controller" ]; do sleep 0.1; done
echo "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)" >&2
exit 1
S
chmod +x losing/sbatch
held=(--set train.steps=401 --set "slurm.extra=[--hold]")
PATH=$scratch/losing:$PATH expect 78 submit lost "${held[@]}"
slurmctld -f "$SLURM_CONF"
wait_for 30 controller scontrol ping
[ "$(squeue -h -r | wc -l)" = 4 ] || fail "not four tasks: $(squeue -h -r)"
grep -q '"job": ""' lost/submissions/*/submission.json || fail "the id of the second array is known"
expect 0 submit lost "${held[@]}" --json
check "j['queued'] == 4 and j['tasks'] == 0"
expect 0 "$depthgrid" cancel lost --all --json
check "len(j['slurm_tasks']) == 4"
wait_for 30 "end of cancelled tasks that were waiting" queue_empty

# A controller that is away: nothing is lost, and nothing is submitted twice afterwards.
kill "$(cat "$labdir/ctld.pid")"
expect 78 submit away
slurmctld -f "$SLURM_CONF"
wait_for 30 controller scontrol ping
expect 0 submit away --json
check "j['tasks'] == 4"
wait_for 90 "end of the arrays" queue_empty_soon
all_done away
