#!/usr/bin/env bash
# What happens before and around a launch, on the virtual nodes of slurm.sh: a stop in a task's first second, nodes that
# cannot do what they should, a configuration that is refused, and -j from a shell that srun has opened.
source "$(dirname "${BASH_SOURCE[0]}")/slurm_common.sh" "$@"
start_lab 4 0
train plain
begun=$SECONDS
seen() { # seen WHAT: what has been shown, and when
  echo "$((SECONDS - begun)) s: $1"
}
no_node_blamed() { [ "$("$depthgrid" status "$1" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["nodes_left_out"])')" = "[]" ]; }

# A stop in the first second, ten times, of a program that takes a second to load: the script, the loading program and
# the preparation meet it. The task comes back each time, and ends with the bits of an undisturbed run.
pretending slow 'exec "$real" "$@"'
one=(--set seeds=1 --set model.modulation.hidden=4)
"$scratch/slow/depthgrid" submit "$sweep" "${options[@]}" "${one[@]}" --set "slurm.extra=[--hold]" --store early --json >out
task=$(field 'j["arrays"][0]["job"]')_0
mv slow/depthgrid slow/program # the script starts what now stands there
cat >slow/depthgrid <<W
#!/bin/bash
sleep 0.4 # as a library on a cold disk; a signal stays pending meanwhile
exec "$scratch/slow/program" "\$@"
W
chmod +x slow/depthgrid
scontrol release "${task%_*}"
for n in $(seq 0 9); do
  wait_for 60 "task that runs" state_is "$task" RUNNING
  sleep "0.$n"
  scancel --signal=USR1 --batch "$task"
  wait_for 60 "task back in the queue" state_is "$task" PENDING
  hurry
done
scontrol show job "$task" | grep -q 'Restarts=10' || fail "$task has not gone back ten times: $(scontrol show job "$task")"
wait_for 120 "end of all tasks" queue_empty_soon
seen "stopped in the first second, ten times of ten back in the queue"
"$depthgrid" run "$sweep" "${options[@]}" "${one[@]}" --store plain_early -q
all_done early plain_early

# A broken node among four, whose workers cannot use the card that they were given, or cannot even be loaded: the healthy
# nodes do all work, the broken one is named with its cause, and no other task starts there.
broken_node() { # broken_node STORE SCRIPT CAUSE
  pretending "$1-programs" "if [ \"\${SLURMD_NODENAME-}\" = n1 ]; then
  board=\$(sed -n 's/.*\"board\":\"\\([^\"]*\\)\".*/\\1/p' <<<\"\$*\")
  $2
fi
exec \"\$real\" \"\$@\""
  "$scratch/$1-programs/depthgrid" submit "$sweep" "${options[@]}" --set "slurm.extra=[--exclusive]" --store "$1" >submitted
  wait_for 240 "end of all tasks" queue_empty_soon
  all_done "$1"
  expect 0 "$depthgrid" status "$1" --json
  check "[(n['node'], n['cause'], n['times']) for n in j['nodes_left_out']] == [('n1', '$3', 1)]"
  expect 0 "$depthgrid" status "$1"
  says out "depthgrid retry --node n1"
  ! grep -l '"end": "done"' "$1"/launches/*/attempt-*.json | xargs grep -l '"host": "n1"' || fail "n1 has trained"
  seen "a broken node ($3) is named, and the others do all work"
}
broken_node device "echo 'error: a GPU is meant for this run, but none can be used: the driver is too old' >&2
  [ -z \"\$board\" ] || { mkdir -p \"\$board\"; printf '078\\nn1\\ndevice\\n' >\"\$board/end\"; }
  exit 78" device
broken_node loader "echo 'depthgrid-worker: error while loading shared libraries: libtorch.so' >&2
  exit 127" library

# The same on two of four: more than a tenth, and more than one. The sweep ends, and says so.
pretending both-programs 'if [[ "${SLURMD_NODENAME-}" =~ ^n[12]$ ]]; then exit 127; fi
exec "$real" "$@"'
scontrol update nodename=n[3-4] state=drain reason=test
"$scratch/both-programs/depthgrid" submit "$sweep" "${options[@]}" --set "slurm.extra=[--exclusive]" --store both >submitted
wait_for 240 "two nodes at fault" bash -c "[ \"\$(ls both/nodes 2>/dev/null | grep -c '^n[12].json\$')\" = 2 ]"
scontrol update nodename=n[3-4] state=resume
expect 71 "$depthgrid" submit "$sweep" "${options[@]}" --store both
says err "n1"
says err "n2"
"$depthgrid" cancel both --all >/dev/null
wait_for 120 "end of the cancelled tasks" queue_empty_soon
seen "more nodes at fault than a tenth are the sweep's fault"

# A configuration that is refused where it is read blames no node, and comes back to no queue.
pretending refused-programs 'if [[ "$*" == *"\"mode\":\"prepare\""* ]]; then
  echo "error: train.lr: refused here" >&2
  exit 78
fi
exec "$real" "$@"'
"$scratch/refused-programs/depthgrid" submit "$sweep" "${options[@]}" --store refused >submitted
wait_for 120 "end of all tasks" queue_empty_soon
no_node_blamed refused || fail "a node is blamed for a configuration"
! scontrol -o show jobs | grep "$scratch/refused" | grep -q 'Restarts=[1-9]' || fail "a refused configuration went back"
seen "a refused configuration blames no node"

# -j from a shell that srun has opened, with and without PMIx.
for mpi in none pmix; do
  srun --mpi=$mpi -n1 "$depthgrid" run "$sweep" "${options[@]}" -j 2 --store "shell_$mpi" -q 2>err ||
    fail "-j 2 from a shell of srun --mpi=$mpi: $(cat err)"
  same plain "shell_$mpi"
  seen "-j 2 from a shell of srun --mpi=$mpi"
done
