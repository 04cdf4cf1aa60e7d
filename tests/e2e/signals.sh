#!/usr/bin/env bash
# Signals to whole runs, and a run that is suspended past its lease: what another one then does.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
long=("$depthgrid" run "$sweep" --set train.steps=1000000 --set eval.every=null)

# begun STORE: waits for a checkpoint in it.
begun() {
  for _ in $(seq 1200); do
    [ -n "$(find "$1" -name 'ckpt-*.h5' 2>/dev/null)" ] && return
    sleep 0.05
  done
  fail "no checkpoint in $1"
}

# ends CODE PID WHAT
ends() {
  local code=0
  wait "$2" 2>/dev/null || code=$?
  [ "$code" = "$1" ] || fail "$3: exit code $code, not $1"
}

# A terminal that goes away, and a scheduler's warning: a checkpoint, then 75.
for signal in HUP USR1 USR2 TERM; do
  "${long[@]}" --store "by_$signal" -q 2>/dev/null &
  run=$!
  begun "by_$signal"
  kill "-$signal" "$run"
  ends 75 "$run" "$signal"
done
mpirun -np 2 "${long[@]}" --store ranks -q >/dev/null 2>&1 &
run=$!
begun ranks
kill -USR1 "$run" # mpirun passes it on to its ranks
ends 75 "$run" "USR1 to mpirun"

# A second INT does not wait for the step. (A script's background children ignore INT by default.)
python3 - "${long[@]}" --set train.batch_size=4096 --store twice -q <<'PY' || fail "a second INT does not end the run at once"
import signal, subprocess, sys, time
run = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
time.sleep(2)
run.send_signal(signal.SIGINT)
time.sleep(0.2)
run.send_signal(signal.SIGINT)
code = run.wait(timeout=60)
print("two INTs:", code)
sys.exit(0 if code in (75, 128 + 2) else 1)
PY

# Suspended for longer than its lease, a run loses its cells to another one; it notices, and the
# results are those of an undisturbed run.
options=(--set train.steps=3000 --set checkpoint.every=50 --set eval.every=null --set resources.lease=2)
train undisturbed
"$depthgrid" run "$sweep" "${options[@]}" --store taken -q 2>first &
run=$!
begun taken
worker=$(pgrep -P "$run" -f depthgrid-worker) || fail "there is no worker"
kill -STOP "$worker"
train taken
kill -CONT "$worker"
ends 0 "$run" "the run that was suspended"
grep -q 'another process has taken this cell' first || fail "it did not notice"
same undisturbed taken
