#!/usr/bin/env bash
# Signals to whole runs, and a run that is suspended past its lease: what another one then does.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
long=("$depthgrid" run "$sweep" --set train.steps=1000000 --set eval.every=null)

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

# A worker whose parent was killed stops, with a checkpoint: the same command goes on.
"${long[@]}" --store orphan -q 2>/dev/null &
run=$!
begun orphan
worker=$(pgrep -P "$run" -f depthgrid-worker) || fail "there is no worker"
kill -9 "$run"
ends 137 "$run" "a run that was killed"
for _ in $(seq 600); do kill -0 "$worker" 2>/dev/null || break; sleep 0.05; done
! kill -0 "$worker" 2>/dev/null || { kill -9 "$worker"; fail "the worker of a killed run trains on"; }

# A second INT does not wait for the step, which is long enough here that its end cannot be meant: a single
# INT shows how long. (A script's background children ignore INT by default.)
without_audit
python3 - "$depthgrid" run "$sweep" --set train.steps=1000 --set eval.every=null --set eval.at_start=false \
  --set train.batch_size=65536 --set train.accumulation=256 --set data.seq_len=64 \
  "${unaudited[@]}" -q <<'PY' || fail "a second INT does not end the run at once"
import pathlib, signal, subprocess, sys, time


def stopped(ints):
    """Exit code and seconds until the end of a run that gets so many INTs in its first step."""
    store = f"ints-{ints}"
    run = subprocess.Popen([*sys.argv[1:], "--store", store], stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    while run.poll() is None and not list(pathlib.Path(store).glob("cells/*/*/journal-*")):
        time.sleep(0.05)
    time.sleep(0.3)
    for _ in range(ints):
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
    sent = time.monotonic()
    return run.wait(timeout=120), time.monotonic() - sent


(code, step), (again, at_once) = stopped(1), stopped(2)
print(f"an INT: {code} after {step:.2f} s; two: {again} after {at_once:.2f} s")
sys.exit(0 if code == 75 and step > 1 and again == 128 + 2 and at_once < step / 4 else 1)
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
