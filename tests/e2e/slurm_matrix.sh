#!/usr/bin/env bash
# What slurm.sh leaves out, on the same virtual nodes: a real time limit, preemption with and without a signal for the
# script, a node that Slurm itself finds dead, a node at fault, a requeue that is refused, teams by mpirun and srun,
# arrays of several shapes, chains of cells, a launcher that starts singletons, a cluster without accounting.
source "$(dirname "${BASH_SOURCE[0]}")/slurm_common.sh" "$@"
start_lab 4 4
train plain
# One task a node.
long=(--set train.steps=3000 --set checkpoint.every=100 --set eval.every=1500 --set "slurm.extra=[--exclusive]"
  --set resources.device=cpu) # --exclusive gives a task the cards of its node, which are no GPUs
"$depthgrid" run "$sweep" "${options[@]}" "${long[@]}" --store plain_long -q
begun=$SECONDS
seen() { # seen WHAT: what has been shown, and when
  echo "$((SECONDS - begun)) s: $1"
}
attempts_that() { grep -l "\"end\": \"$2\"" "$1"/launches/*/attempt-*.json 2>/dev/null | wc -l; } # STORE END
preempt() {                                                                                          # preempt: all nodes for a moment
  local high
  high=$(sbatch --parsable -p high -N4 --exclusive -t 1 -o /dev/null --wrap 'sleep 1')
  wait_for 120 "start of the preempting job" has_started "$high"
  wait_for 60 "end of the preempting job" has_left "$high"
}

# A cluster without accounting.
if sacct >/dev/null 2>&1; then fail "this lab has accounting"; fi
expect 0 "$depthgrid" doctor here
says out "sacct is empty"
seen "no sacct"

# A real time limit of two minutes: the task writes checkpoints, goes back by itself, and is never TIMEOUT.
very_long=(--set train.steps=150000 --set eval.every=50000 --set checkpoint.every=500)
submit timed "${very_long[@]}" --set resources.time=2 --set slurm.signal_delay=10 >submitted
wait_for 60 "running task" running 1
task=$(squeue -h -r -t R -o %i | head -1)
wait_for 180 "task that goes back by itself" state_is "$task" PENDING
[ "$(restarts "$task")" = 1 ] || fail "$task has not been requeued"
[ "$(attempts_that timed stopped)" -ge 1 ] || fail "no launch has stopped at the time limit"
a_checkpoint timed || fail "no checkpoint at the time limit"
"$depthgrid" cancel timed --all >/dev/null
wait_for 120 "end of the cancelled tasks" queue_empty_soon
! scontrol -o show jobs | grep -q 'JobState=TIMEOUT' || fail "a task ran into its limit"
seen "time limit: $(attempts_that timed stopped) launches stopped with a checkpoint, $task went back"

# The same where sbatch is told the time limit beside the script: the signal is that of the time that wins.
for told in words environment; do
  store=timed_by_$told
  if [ "$told" = words ]; then
    submit "$store" "${very_long[@]}" --set slurm.signal_delay=10 --set seeds=1 -- -t 2 >submitted
  else
    SBATCH_TIMELIMIT=2 submit "$store" "${very_long[@]}" --set slurm.signal_delay=10 --set seeds=1 >submitted
  fi
  wait_for 60 "running task" running 1
  grep -q 'signal=B:USR1@60$' "$store"/submissions/*/array-0.sbatch || fail "the signal of another time: $(grep signal "$store"/submissions/*/array-0.sbatch)"
  task=$(squeue -h -r -t R -o %i | head -1)
  wait_for 180 "task that goes back by itself" state_is "$task" PENDING
  a_checkpoint "$store" || fail "no checkpoint at the time limit by $told"
  "$depthgrid" cancel "$store" --all >/dev/null
  wait_for 120 "end of the cancelled tasks" queue_empty_soon
  seen "time limit by $told: $task went back with a checkpoint"
done

# Preemption, with a signal for the script at the start of the grace time.
submit preempted "${long[@]}" >submitted
wait_for 60 "running tasks" running 4
wait_for 60 checkpoint a_checkpoint preempted
preempt
[ "$(attempts_that preempted stopped)" -ge 1 ] || fail "no launch was stopped with a checkpoint"
seen "preempted with a signal: $(attempts_that preempted stopped) launches stopped with a checkpoint"
wait_for 120 "end of all tasks" queue_empty_soon
all_done preempted plain_long

# Ten times in a row: the task goes back and on, each time from where they were, and ends with undisturbed bits.
often=(--set seeds=1 --set model.modulation.hidden=4 --set train.steps=12000 --set checkpoint.every=100 --set eval.every=6000)
"$depthgrid" run "$sweep" "${options[@]}" "${often[@]}" --store plain_often -q
submit often "${often[@]}" >submitted
wait_for 60 "running task" running 1
task=$(squeue -h -r -t R -o %i | head -1)
for n in $(seq 10); do
  wait_for 60 "task that runs" state_is "$task" RUNNING
  known=$(find often/cells -name 'ckpt-*.h5' -printf '%f\n' | sort -u | tail -1)
  wait_for 60 "newer checkpoint" bash -c "[ \"\$(find often/cells -name 'ckpt-*.h5' -printf '%f\\n' | sort -u | tail -1)\" != '$known' ]"
  scancel --signal=USR1 --batch "$task"
  wait_for 60 "task back in the queue" state_is "$task" PENDING
  hurry
done
scontrol show job "$task" | grep -q 'Restarts=10' || fail "$task has not gone back ten times: $(scontrol show job "$task")"
wait_for 120 "end of all tasks" queue_empty_soon
all_done often plain_often
seen "one task signalled ten times in a row: $(attempts_that often stopped) launches stopped with a checkpoint"

# A node that Slurm itself finds dead (SlurmdTimeout): only its tasks come back.
submit dead "${long[@]}" >submitted
wait_for 60 "running tasks" running 4
wait_for 60 checkpoint a_checkpoint dead
victim=$(squeue -h -r -t R -o %i | head -1)
node=$(squeue -h -r -j "$victim" -o %N)
"$lab" kill "$labdir" "$node"
killed=$SECONDS
wait_for 120 "task of the dead node in the queue" state_is "$victim" PENDING
seen "node $node killed: Slurm put $victim back after $((SECONDS - killed)) s"
lost=$(scontrol -o show jobs | grep "ArrayJobId=${victim%_*} " | grep -c 'Restarts=1' || true)
[ "$lost" = 1 ] || fail "$lost of 4 tasks were requeued, not that of the dead node alone"
wait_for 240 "end of all tasks" queue_empty_soon
"$lab" revive "$labdir" "$node"
all_done dead plain_long

# A node at fault: its launches end with a text of the driver. The task goes back, and not to that node.
wait_for 60 "nodes" bash -c "[ \"\$(sinfo -h -N -t idle -p gpu -o %N | sort -u | wc -l)\" = 4 ]"
pretending broken 'if [[ ${SLURMD_NODENAME-} = n1 && "$*" =~ \"mode\":\ ?\"launch ]]; then echo "NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus"; exit 1; fi; exec "$real" "$@"'
scontrol update nodename=n[2-4] state=drain reason=test
"$scratch/broken/depthgrid" submit "$sweep" "${options[@]}" --store fault --set retry.infrastructure=0 \
  --set retry.breaker_failures=50 --set packing.cells_per_launch=4 --json >out
task=$(field 'j["arrays"][0]["job"]')_0
wait_for 90 "task that goes back" bash -c "scontrol -o show job $task | grep -q 'Restarts=1 '"
wait_for 10 "excluded node" bash -c "scontrol -o show job $task | grep -q 'ExcNodeList=n1 '"
scontrol update nodename=n[2-4] state=resume
wait_for 60 "end of the task" queue_empty_soon
all_done fault
grep -h '"host"' fault/launches/*/attempt-*.json | sort | uniq -c
# It stays left out, by name and cause, until somebody readmits it.
expect 0 "$depthgrid" status fault --json
check "[n['node'] for n in j['nodes_left_out']] == ['n1']"
expect 0 submit fault --set train.steps=401 --dry-run --json
check "all('--exclude=n1' in a['script'] for a in j['arrays'])"
says err "depthgrid retry --node n1"
expect 0 "$depthgrid" retry --node n1 fault
expect 0 submit fault --set train.steps=401 --dry-run --json
check "not any('--exclude' in a['script'] for a in j['arrays'])"
seen "a node at fault is left out, named, and readmitted"

# A node whose driver has lost its card is seen before anything is trained on it.
mkdir -p smi
cat >smi/nvidia-smi <<'SH'
#!/bin/bash
[ "$SLURMD_NODENAME" = n1 ] || { echo "GPU 0: pretended"; exit; }
echo "Unable to determine the device handle for GPU 0000:17:00.0: GPU is lost"
exit 15
SH
chmod +x smi/nvidia-smi
scontrol update nodename=n[2-4] state=drain reason=test
PATH=$PWD/smi:$PATH submit lost --set resources.device=cpu --json -- --gres=gpu:1 >out
task=$(field 'j["arrays"][0]["job"]')
wait_for 90 "task that goes back" bash -c "scontrol -o show job $task | grep -q 'ExcNodeList=n1 '"
scontrol update nodename=n[2-4] state=resume
wait_for 120 "end of the tasks" queue_empty_soon
all_done lost
grep -q "GPU is lost" lost/launches/node-check-*/attempt-1.json || fail "no record of the fault"
! grep -l '"end": "done"' lost/launches/*/attempt-*.json | xargs grep -l '"host": "n1"' || fail "n1 has trained"
expect 0 "$depthgrid" status lost
says out "GPU is lost"
says out "depthgrid retry --node n1 lost"
seen "a card that is lost is seen at a task's begin"

# A requeue that Slurm refuses: the task's cells are submitted anew, with the same options of sbatch.
submit refused "${long[@]}" -- --no-requeue >submitted
wait_for 60 "running tasks" running 4
wait_for 60 checkpoint a_checkpoint refused
task=$(squeue -h -r -t R -o %i | head -1)
scancel --signal=USR1 --batch "$task"
wait_for 60 "another submission" bash -c "[ \$(ls -d refused/submissions/*/ | wc -l) = 2 ]"
expect 0 submit refused "${long[@]}" --json
check "j['tasks'] == 0"
wait_for 120 "end of all tasks" queue_empty
grep -q "submitted anew as array" refused/submissions/*/logs/* || fail "the task does not say that it was submitted anew"
grep -q '"--no-requeue"' refused/submissions/*/submission.json || fail "the options of sbatch are lost"
all_done refused plain_long
seen "a refused requeue is submitted anew"

# Teams: by mpirun in a task of one node, by srun in a task of two.
team=(--set resources.ranks_per_job=2 --set train.steps=100)
ranks 2 plain_team "${team[@]}"
submit team "${team[@]}" >submitted
submit spread "${team[@]}" --set resources.nodes=2 --set slurm.array_parallelism=1 >submitted
wait_for 240 "end of the teams" queue_empty_soon
all_done team plain_team
all_done spread plain_team
for launched in team:mpirun spread:srun; do
  grep -q "\"launcher\": \"${launched#*:}\"" "${launched%:*}"/launches/*/attempt-1.json || fail "not ${launched#*:}"
done
seen "teams by mpirun and by srun over two nodes"

# A cluster whose srun has no PMIx: over two nodes, a team goes by mpirun, and a single rank by srun without MPI.
mkdir nopmix
printf '#!/bin/bash\ncase "$*" in\n*--mpi=list*) printf "MPI plugin types are...\\n\\tnone\\n\\tpmi2\\n" ;;\n*--mpi=pmi*) exit 1 ;;\n*) exec %q "$@" ;;\nesac\n' \
  "$(command -v srun)" >nopmix/srun
chmod +x nopmix/srun
PATH=$PWD/nopmix:$PATH submit bare_team "${team[@]}" --set resources.nodes=2 --set slurm.array_parallelism=1 >submitted
PATH=$PWD/nopmix:$PATH submit bare --set resources.nodes=2 --set slurm.array_parallelism=1 >submitted
wait_for 240 "end of the tasks" queue_empty_soon
all_done bare_team plain_team
all_done bare plain
for launched in bare_team:mpirun bare:srun; do
  grep -q "\"launcher\": \"${launched#*:}\"" "${launched%:*}"/launches/*/attempt-1.json || fail "not ${launched#*:}"
done
seen "without PMIx: teams by mpirun over two nodes, single ranks by srun alone"

# Two shapes of cells, two arrays; and a chain of cells stays together.
cat >mixed.yaml <<'YAML'
name: mixed
method: list
model: {n_heads: 2, positions: rope}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 300, batch_size: 4, lr: 3e-3}
eval: {every: 100, windows: 8, final_windows: 16}
resources: {max_cell_time: "0:01"}
include:
  - {tag: small, model.d_model: 16, model.n_layers: 2}
  - {tag: next, model.d_model: 16, model.n_layers: 2, train.steps: 30, model.init.from: arm:small}
  - {tag: large, model.d_model: 256, model.n_layers: 4, train.steps: 100}
YAML
expect 0 "$depthgrid" submit mixed.yaml --store mixed --set resources.lease=5 --json
check "[a['ranks'] > 1 for a in j['arrays']] == [True, False] and [a['tasks'] for a in j['arrays']] == [1, 1]"
wide=$(field 'j["arrays"][0]["ranks"]')
wait_for 240 "end of the arrays" queue_empty_soon
expect 0 "$depthgrid" status mixed --json
check "j['counts']['completed'] == 3"
grep -q "\"ranks\": $wide" mixed/launches/*/attempt-1.json || fail "no launch of $wide ranks"
seen "a team of $wide ranks and a chain of two cells in arrays of their own"

# The program alone where it should be one of two ranks: without a launcher, and by one that makes each a world of its own.
for line in "" "srun --mpi=none -n2"; do
  sbatch -W -n2 -t 2 -o singleton.log --wrap "$line $depthgrid run $sweep ${options[*]} ${team[*]} --store singleton -q
echo ended with \$?" >submitted
  grep -q 'ended with [1-9]' singleton.log || fail "not refused: $(cat singleton.log)"
  [ "$(find singleton/cells -name result.h5 2>/dev/null | wc -l)" = 0 ] || fail "a singleton has trained cells"
  seen "refused: $(grep -m1 'only 1 rank\|PMI support' singleton.log)"
done

# Preemption without a signal for the script: what counts is the last periodic checkpoint.
stop_lab
LAB_CTLD_PARAMETERS=none LAB_GRACE=5 start_lab 4 0
# Longer than Slurm takes to preempt.
longer=("${long[@]}" --set train.steps=12000 --set eval.every=6000)
"$depthgrid" run "$sweep" "${options[@]}" "${longer[@]}" --store plain_longer -q
submit unwarned "${longer[@]}" >submitted
wait_for 60 "running tasks" running 4
wait_for 60 checkpoint a_checkpoint unwarned
preempt
wait_for 60 "preempted task" bash -c "scontrol -o show jobs | grep -q 'Restarts=[1-9]'"
wait_for 240 "end of all tasks" queue_empty_soon
all_done unwarned plain_longer
seen "preempted without a signal: $(scontrol -o show jobs | grep -c 'Restarts=[1-9]') tasks came back"
