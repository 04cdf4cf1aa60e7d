#!/usr/bin/env bash
# Launches that are watched: the bits of a plain run, whatever is killed, hangs or crashes; several supervisors on one
# store; a poison cell; orders of the shell.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
options=(--set train.steps=1000 --set checkpoint.every=50 --set eval.every=500 --set retry.backoff=0.2
  --set resources.lease=3 --set packing.fuse=off)
train plain

supervised() { # supervised STORE [OPTION...]
  local store=$1
  shift
  "$depthgrid" run "$sweep" "${options[@]}" "$@" --store "$store" -q
}
begin_supervised() { # the same in the background; its process is $run
  local store=$1
  shift
  "$depthgrid" run "$sweep" "${options[@]}" "$@" --store "$store" -q 2>err &
  run=$!
}
wait_for() { # wait_for WHAT COMMAND...
  local what=$1
  shift
  for _ in $(seq 1200); do
    "$@" && return
    sleep 0.05
  done
  fail "no $what in a minute"
}
a_checkpoint() { find "$1" -name 'ckpt-*.h5' 2>/dev/null | grep -q .; }
worker_of() { pgrep -P "$1" -f 'depthgrid-worker run' | head -1; }
has_worker() { [ -n "$(worker_of "$1")" ]; }
# Two launches at a time, one job each; launch overhead.
begin=$(date +%s%N)
expect 0 supervised two -j 2
took=$((($(date +%s%N) - begin) / 1000000))
same plain two
[ "$(find two/launches -name 'attempt-1.json' | wc -l)" -ge 2 ] || fail "no record of launches"
echo "supervised: 4 cells, 2 at a time, in $took ms"

# Each launch has cores of its own.
if [ "$(nproc)" -ge 2 ]; then
  begin_supervised bound -j 2 --set resources.bind=cores
  wait_for checkpoint a_checkpoint bound/cells
  wait_for "two workers" bash -c "[ \$(pgrep -c -P $run -f 'depthgrid-worker run') = 2 ]"
  for worker in $(pgrep -P "$run" -f 'depthgrid-worker run'); do
    grep Cpus_allowed_list "/proc/$worker/status"
  done | sort -u >cores
  [ "$(wc -l <cores)" = 2 ] || fail "not cores of their own: $(cat cores)"
  wait "$run" || fail "the supervisor ended with $?"
  same plain bound
fi

# A plain run starts its worker again after a crash, from its checkpoint.
begin_supervised restarted
wait_for checkpoint a_checkpoint restarted/cells
wait_for worker has_worker "$run"
kill -SEGV "$(worker_of "$run")"
wait "$run" || fail "a plain run whose worker crashed ended with $?"
says err "started again in"
same plain restarted

# kill -9 of a worker: it is started again, from its checkpoint.
begin_supervised killed -j 2
wait_for checkpoint a_checkpoint killed/cells
wait_for worker has_worker "$run"
victim=$(worker_of "$run")
begin=$(date +%s%N)
kill -9 "$victim"
wait_for "detected death" grep -rqs '"end": "killed"' killed/launches
echo "a killed worker was seen after $((($(date +%s%N) - begin) / 1000000)) ms"
wait "$run" || fail "the supervisor ended with $?"
same plain killed

# kill -9 of the supervisor: its launches stop; the same command goes on.
begin_supervised orphaned -j 2
wait_for checkpoint a_checkpoint orphaned/cells
wait_for worker has_worker "$run"
workers=$(pgrep -P "$run" -f 'depthgrid-worker run')
kill -9 "$run"
wait "$run" 2>/dev/null || true
gone() {
  local w
  for w in $workers; do
    [ -d "/proc/$w" ] && ! grep -q '^State:.*Z' "/proc/$w/status" && return 1
  done
  return 0
}
wait_for "end of orphaned launches" gone
expect 0 supervised orphaned -j 2
same plain orphaned

# A signal: launches write checkpoints, exit code 75, and the same command goes on.
begin_supervised stopped -j 2
wait_for checkpoint a_checkpoint stopped/cells
kill -TERM "$run"
code=0
wait "$run" || code=$?
[ "$code" -eq 75 ] || fail "stopped with $code, not 75"
expect 0 "$depthgrid" status stopped --events --json
check "[(e['kind'], e['code'], e['signal']) for e in j['events'] if 'signal' in e] == [('stopping', 75, 15), ('supervisor_ended', 75, 15)]"
expect 0 supervised stopped -j 2
same plain stopped

# Five supervisors and a plain run on one store.
supervisors=()
for _ in 1 2 3 4 5; do
  begin_supervised shared -j 1
  supervisors+=("$run")
done
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --store shared -q
for run in "${supervisors[@]}"; do wait "$run" || fail "one of five supervisors ended with $?"; done
expect 0 "$depthgrid" pack shared
same plain shared
[ "$(find shared/cells -name result.h5 | wc -l)" = 4 ] || fail "not four results"

# A cell that crashes its process each time is given up; the others are completed; exit code 4.
expect 0 "$depthgrid" status plain --json
poison=$("$depthgrid" results plain --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["cells"][0]["id"])')
DEPTHGRID_FAULT=abort@300@$poison expect 4 supervised poisoned -j 2 --set retry.crash=1 --set retry.breaker_failures=50
expect 4 "$depthgrid" status poisoned --json
check "j['counts']['completed'] == 3 and j['counts']['failed'] == 1"
check "j['problems'][0]['id'] == '$poison'"
# What has happened is listed in order, and why the cell has failed with what comes next.
expect 0 "$depthgrid" status poisoned --events --json
check "j['recorded'] and j['skipped'] == 0 and all(e['known_from'] == 'event' for e in j['events'])"
check "j['events'][0]['launch'].startswith('prepare-') and j['events'][-1]['kind'] == 'supervisor_ended' and j['events'][-1]['code'] == 4"
check "[e['kind'] for e in j['events'] if '$poison' in e.get('cells', [])] == ['launch_began', 'launch_ended'] * 2 + ['cells_given_up']"
check "{(e['end'], e['code']) for e in j['events'] if e['kind'] == 'launch_ended' and '$poison' in e['cells']} == {('crash', 134)}"
check "[(e['budget'], e['failures'], e['allowed']) for e in j['events'] if e['kind'] == 'launch_again'] == [('retry.crash', 1, 1)]"
check "[e['end'] for e in j['events'] if e['kind'] == 'launch_ended' and '$poison' not in e['cells']] == ['done'] * 4"
expect 0 "$depthgrid" why poisoned "$poison" --json
check "[(c['answer'], c['failure']['class'], c['failure']['budget'], c['failure']['allowed']) for c in j['cells']] == [('failed', 'crash', 'retry.crash', 1)]"
check "j['cells'][0]['commands'] == ['depthgrid run poisoned/sweep.yaml'] and len(j['cells'][0]['logs']['launches']) == 2"
check "all(__import__('os').path.exists(f) for files in j['cells'][0]['logs'].values() for f in files) and j['cells'][0]['events'][-1]['kind'] == 'cells_given_up'"
expect 0 "$depthgrid" cancel "$poison" poisoned
expect 0 "$depthgrid" why "$poison" poisoned
says out "it was cancelled by $(id -un)"
expect 0 "$depthgrid" retry "$poison" poisoned
expect 0 "$depthgrid" status poisoned --events
says out "made pending again by $(id -un)"
# Healed, the same command trains it.
expect 0 supervised poisoned -j 2
same plain poisoned
expect 0 "$depthgrid" why "$poison" poisoned
says out "it has a result"
expect 0 "$depthgrid" gc poisoned
[ -n "$(ls poisoned/events)" ] || fail "gc has removed what happened"
# A store of a release that kept no events tells what its records of launches say.
rm -r poisoned/events
expect 0 "$depthgrid" status poisoned --events
says out "no events are recorded in poisoned"
says out "ended as crash (signal 6, Aborted)"
says out "launch record"

# The same in one launch of all jobs: the other cells do not go down with it.
DEPTHGRID_FAULT=abort@300@$poison expect 4 supervised together -j 1 --set retry.crash=1 \
  --set packing.cells_per_launch=4 --set packing.order=file
says err "4 launches take its place"
expect 4 "$depthgrid" status together --json
check "j['counts']['completed'] == 3 and j['problems'][0]['id'] == '$poison'"

# Teams of two ranks.
expect 0 supervised teams -j 2 --set resources.ranks_per_job=2 --set train.steps=100
expect 0 "$depthgrid" status teams --json
check "j['counts']['completed'] == 4"

# The circuit breaker: a machine on which every launch crashes stops by itself.
DEPTHGRID_FAULT=abort@1 expect 1 supervised broken -j 2 --set retry.crash=100 --set retry.breaker_failures=3
says err "retry.breaker_failures = 3"

# --fail-fast ends with the first failed cell.
DEPTHGRID_FAULT=abort@300@$poison expect 4 supervised hasty -j 1 --fail-fast --set retry.crash=0 \
  --set retry.breaker_failures=50

# A hang: the watchdog ends the worker with 76, and the next launch goes on.
DEPTHGRID_FAULT=sleep@300@$poison expect 4 supervised hanging -j 2 --set resources.hang=2 --set retry.hang=0
expect 0 grep -rq '"end": "hang"' hanging/launches
expect 0 supervised hanging -j 2
same plain hanging

# A card that fails (pretended): what is recorded is kept, a new process tries again, with and without a supervisor; a
# single retry is not enough here. The attempts say what has ended them.
for kind in "-j 2" ""; do
  store=card${kind:+-supervised}
  # shellcheck disable=SC2086
  DEPTHGRID_FAULT=device@300@$poison expect $([ -n "$kind" ] && echo 4 || echo 71) \
    supervised "$store" $kind --set retry.infrastructure=1
  expect 0 grep -rqs "a fault of a card, its driver or the network" "$store/logs"
  expect 0 "$depthgrid" logs "$poison" "$store" --json
  check "[a['outcome'] for a in j['attempts']] == ['infrastructure'] * 2"
  # shellcheck disable=SC2086
  expect 0 supervised "$store" $kind
  same plain "$store"
done
expect 0 grep -rq '"end": "infrastructure"' card-supervised/launches

# A budget that is used up stops with checkpoints; with a larger one the same command goes on. Both with and without a
# supervisor.
for kind in "-j 2" ""; do
  store=budget${kind:+-supervised}
  # shellcheck disable=SC2086
  expect 75 supervised "$store" $kind --set train.steps=200000 --set budget.gpu_hours=0.002
  says err "budget.gpu_hours is used up"
  expect 3 "$depthgrid" status "$store" --json
  check "0 < j['rank_hours']['used'] < 0.01"
  a_checkpoint "$store/cells" || fail "a stop by a budget leaves no checkpoint"
  # shellcheck disable=SC2086
  expect 75 supervised "$store" $kind --set train.steps=200000 --set budget.gpu_hours=0.002
  says err "budget.gpu_hours is used up"
done

# Inside a step of a launcher, if asked to.
PMIX_RANK=0 SLURM_STEP_ID=0 expect 0 "$depthgrid" run "$sweep" "${options[@]}" --set train.steps=100 --store stepped -q --supervise -j 2
[ -n "$(find stepped/launches -name 'attempt-1.json')" ] || fail "--supervise has started no launch"

# Lines of a file of tasks.
ids=$("$depthgrid" results plain --json | python3 -c 'import json,sys; print(*(c["id"] for c in json.load(sys.stdin)["cells"]))')
read -r -a ids <<<"$ids"
printf '%s %s\n%s %s\n' "${ids[@]}" >tasks.txt
expect 0 "$depthgrid" supervise "$sweep" "${options[@]}" --store tasked -j 1 --tasks tasks.txt --task 1
says err "100 % (2 of 2 cells)" # its own, not those of the sweep
expect 3 "$depthgrid" status tasked --json
check "j['counts']['completed'] == 2"
SLURM_ARRAY_TASK_ID=0 expect 0 "$depthgrid" supervise "$sweep" "${options[@]}" --store tasked -q -j 1 --tasks tasks.txt
expect 0 "$depthgrid" pack tasked
same plain tasked
expect 66 "$depthgrid" supervise "$sweep" --store tasked --tasks tasks.txt --task 2
expect 65 "$depthgrid" supervise "$sweep" "${options[@]}" --set train.steps=7 --store tasked -q --tasks tasks.txt --task 1
says err "2 of 2 cells that are not in"
expect 2 "$depthgrid" supervise "$sweep" --store tasked --tasks tasks.txt
expect 2 "$depthgrid" supervise "$sweep" --store tasked --task 1
