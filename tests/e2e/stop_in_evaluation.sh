#!/usr/bin/env bash
# A signal during the final evaluation: the worker leaves with 75, and the same command ends with the same bits.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
options=(--set train.steps=20 --set data.synthetic.tokens=3000000 --set eval.final_windows=null
  --set 'eval.final_splits=[dev,valid]' --set eval.batch_size=1 --set model.modulation.hidden=4 --set seeds=1)
train undisturbed

"$depthgrid" run "$sweep" "${options[@]}" --store stopped -q 2>err &
run=$!
for _ in $(seq 1200); do
  [ -n "$(find stopped -name 'ckpt-00000020-*.h5' 2>/dev/null)" ] && break
  sleep 0.05
done
kill -TERM "$run"
code=0
wait "$run" || code=$?
[ "$code" = 75 ] || fail "SIGTERM in the final evaluation: exit code $code, not 75"
expect 3 "$depthgrid" status stopped --json
check 'j["counts"]["pending"] == 1'
train stopped
same undisturbed stopped
expect 0 h5dump -d /attempt_outcome stopped/sweep.h5
grep -q '(0): 1, 0' out || fail "the first attempt should have been preempted, the second done"
echo "stop_in_evaluation: ok"
