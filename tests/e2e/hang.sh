#!/usr/bin/env bash
# A rank that hangs ends itself, and with it its team; the same command goes on from the checkpoint. A pause of the
# whole process is no hang. A rank that is killed ends the others within seconds.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
options=(--set train.steps=120 --set checkpoint.every=20 --set eval.every=60)
train plain

limit=3
begin=$(date +%s%N)
DEPTHGRID_FAULT=sleep@50 expect 76 "$depthgrid" run "$sweep" "${options[@]}" --set resources.hang=$limit --set retry.hang=0 \
  --store hung -q
took=$((($(date +%s%N) - begin) / 1000000))
says err "resources.hang"
echo "a hang was ended after $took ms, with a limit of $limit s"
[ "$took" -lt $(((limit + 8) * 1000)) ] || fail "that took too long"
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --store hung -q
same plain hung

# One of two ranks of a team.
team=(--set resources.ranks_per_job=2)
expect 0 mpirun -q -np 2 "$depthgrid" run "$sweep" "${options[@]}" "${team[@]}" --store plain_team -q
DEPTHGRID_FAULT=sleep@50 expect 76 mpirun -q -np 2 "$depthgrid" run "$sweep" "${options[@]}" "${team[@]}" \
  --set resources.hang=$limit --store hung_team -q
expect 0 mpirun -q -np 2 "$depthgrid" run "$sweep" "${options[@]}" "${team[@]}" --store hung_team -q
same plain_team hung_team

# Any rank: the second one hangs in training, and then in start-up, before MPI.
second() {  # second FAULT COMMAND...: the fault concerns the second rank only
  local fault=$1
  shift
  mpirun -q -np 2 bash -c 'fault=$1; shift; [ "$OMPI_COMM_WORLD_RANK" = 0 ] || export DEPTHGRID_FAULT=$fault; exec "$@"' \
    second "$fault" "$@"
}
expect 76 second sleep@50 "$depthgrid" run "$sweep" "${options[@]}" "${team[@]}" --set resources.hang=$limit --store hung_second -q
says err "in phase 'training'"
expect 0 mpirun -q -np 2 "$depthgrid" run "$sweep" "${options[@]}" "${team[@]}" --store hung_second -q
same plain_team hung_second
begin=$(date +%s%N)
expect 76 second sleep@0 "$depthgrid" run "$sweep" "${options[@]}" "${team[@]}" --set resources.hang=1 --store hung_start -q
says err "in phase 'start-up'"
took=$((($(date +%s%N) - begin) / 1000000))
echo "a hang in start-up was ended after $took ms"
[ "$took" -lt 12000 ] || fail "that took too long"

# QUIT: a rank says where it is, and goes on.
DEPTHGRID_FAULT=sleep@50 "$depthgrid" run "$sweep" "${options[@]}" --set resources.hang=8 --set retry.hang=0 --store asked -q 2>err &
run=$!
for _ in $(seq 1200); do
  find asked -name 'ckpt-*40-*.h5' 2>/dev/null | grep -q . && break
  sleep 0.05
done
sleep 1
kill -QUIT "$(pgrep -P "$run" -f depthgrid-worker)"
code=0
wait "$run" || code=$?
[ "$code" -eq 76 ] || fail "a rank that was asked where it is ended with $code"
says err "rank 0, process"
says err ": training, step 50, last sign of life"

# Stopped for longer than the limit and continued: no hang.
"$depthgrid" run "$sweep" --set train.steps=4000 --set checkpoint.every=20 --set resources.hang=2 --store paused -q 2>err &
run=$!
for _ in $(seq 1200); do
  find paused -name 'ckpt-*.h5' 2>/dev/null | grep -q . && break
  sleep 0.05
done
worker=$(pgrep -P "$run" -f depthgrid-worker) || fail "there is no worker"
kill -STOP "$worker"
sleep 8
kill -CONT "$worker"
sleep 2
kill -0 "$worker" 2>/dev/null || fail "a pause was taken for a hang"
kill -INT "$run"
wait "$run" || true

# kill -9 of a rank.
mpirun -q -np 2 "$depthgrid" run "$sweep" --set train.steps=100000 --set checkpoint.every=20 "${team[@]}" --store dead -q 2>/dev/null &
run=$!
for _ in $(seq 1200); do
  find dead -name 'ckpt-*.h5' 2>/dev/null | grep -q . && break
  sleep 0.05
done
begin=$(date +%s%N)
kill -9 "$(pgrep -P "$run" -f depthgrid-worker | head -1)"
wait "$run" 2>/dev/null || true
took=$((($(date +%s%N) - begin) / 1000000))
echo "a dead rank ended its team after $took ms"
[ "$took" -lt 5000 ] || fail "that took too long"
