#!/usr/bin/env bash
# Data-parallel teams: two ranks on one cell agree with one rank to rounding, and with themselves to
# the bit; a killed rank ends the run, and the same command goes on.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
train one
ranks 2 team --set resources.ranks_per_job=2
ranks 2 again --set resources.ranks_per_job=2
same team again
near one team 2e-6 # 4.8e-7 where it was measured

# Two ranks are one rank that accumulates two halves.
train halves --set train.accumulation=2
near one halves 2e-6

# Moments divided among the ranks: the same bits.
ranks 2 divided --set resources.ranks_per_job=2 --set resources.shard_optimizer=true
same team divided

# Two teams share the cells; a batch that ranks cannot halve; cells that stop early end on both ranks:
# the parameters of the ranks are compared before every checkpoint.
ranks 4 teams --set resources.ranks_per_job=2
same team teams
train odd --set train.batch_size=5
ranks 2 uneven --set train.batch_size=5 --set resources.ranks_per_job=2
near odd uneven 2e-6
early=(--set eval.every=5 --set train.early_stop.patience=1 --set train.early_stop.min_delta=0.15)
ranks 2 early "${early[@]}" --set resources.ranks_per_job=2 --set packing.fuse=2
expect 0 "$depthgrid" results early --json
check 'any(c["step"] < 60 for c in j["cells"]) and all(c["status"] == "completed" for c in j["cells"])'
train early_alone "${early[@]}"
near early_alone early 2e-6

# auto: cells whose operations would take a core longer than resources.max_cell_time get a team.
large=(--set model.d_model=128 --set train.steps=360 --set seeds=1 --set resources.max_cell_time=0:00:01)
ranks 2 chosen "${large[@]}"
for cell in hidden=4,s0 hidden=8,s0; do
  expect 0 "$depthgrid" logs "$cell" chosen --json
  check 'j["attempts"] and all(a["facts"]["ranks"] == 2 for a in j["attempts"])'
done

# One sweep, structures with teams of their own sizes: a supervisor gives each launch the ranks of its cells.
mixed=(--set model.d_model=16,128 --set train.steps=360 --set seeds=1 --set resources.max_cell_time=0:00:01)
expect 0 "$depthgrid" run "$sweep" "${options[@]}" "${mixed[@]}" --store mixed -q -j 2
expect 0 "$depthgrid" status mixed --json
check 'j["counts"]["completed"] == j["cells"] == 4'
"$depthgrid" results mixed --json | python3 -c 'import json,sys; [print(c["id"], c["alias"]) for c in json.load(sys.stdin)["cells"]]' >cells_of_mixed
while read -r id alias; do
  case $alias in *d_model=128*) size=2 ;; *) size=1 ;; esac
  expect 0 "$depthgrid" logs "$id" mixed --json
  check "j['attempts'] and all(a['facts']['ranks'] == $size for a in j['attempts'])"
done <cells_of_mixed
for size in 1 2; do
  grep -rqs "\"ranks\": $size" mixed/launches || fail "no launch had $size ranks"
done

# A launcher that cannot start its ranks, and one that loses them, is no fault of the cells: they are tried again.
# Launchers side by side have folders of their own.
mkdir failing
cat >failing/mpirun <<S
#!/bin/bash
echo "\$OMPI_MCA_orte_tmpdir_base" >>"$scratch/sessions"
mkdir "$scratch/failing/first" 2>/dev/null && exit 1
mkdir "$scratch/failing/second" 2>/dev/null && exit 205
exec $(command -v mpirun) "\$@"
S
chmod +x failing/mpirun
PATH=$scratch/failing:$PATH expect 0 "$depthgrid" run "$sweep" "${options[@]}" --set resources.ranks_per_job=2 \
  --set packing.fuse=off --set packing.cells_per_launch=1 --set retry.backoff=0.1 --store tried -q -j 4
same team tried
for code in 1 205; do
  grep -qs "mpirun ended with $code, and no rank has noted why" tried/launches/*/attempt-1.log ||
    fail "nobody says that a launcher ended with $code"
done
[ "$(grep -l '"end": "infrastructure"' tried/launches/*/attempt-*.json | wc -l)" = 2 ] || fail "not two lost launchers"
[ "$(sort -u sessions | wc -l)" = 6 ] || fail "launchers share folders: $(cat sessions)"
while read -r folder; do [ ! -e "$folder" ] || fail "$folder is left"; done <sessions

options=(--set train.steps=300 --set checkpoint.every=50)
ranks 2 straight --set resources.ranks_per_job=2
mpirun -np 2 "$depthgrid" run "$sweep" "${options[@]}" --set resources.ranks_per_job=2 --store killed -q >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 1200); do
  [ "$(find killed -name 'ckpt-*.h5' 2>/dev/null | wc -l)" -ge 2 ] && break
  sleep 0.05
done
rank=$(pgrep -P "$launcher" | tail -n 1) || fail "mpirun has no rank to kill"
kill -9 "$rank" 2>/dev/null || true # the exit code tells whether it was in time
code=0
wait "$launcher" 2>/dev/null || code=$?
[ "$code" != 0 ] || fail "the run ended before a rank was killed"

# One rank would round its sums otherwise: refused, unless the user allows it.
expect 78 "$depthgrid" run "$sweep" "${options[@]}" --store killed -q
says err 'with 2 rank(s) per job, this run has 1'
says err '--allow-inexact'
if grep -q 'read them with' err; then fail "advice to read results after a refused start"; fi
cp -r killed inexact
expect 0 "$depthgrid" run "$sweep" "${options[@]}" --store inexact -q --allow-inexact
"$sources/.venv/bin/python" - <<'PY' || fail "the store does not record that a team of another size went on"
import h5py

kinds = h5py.File("inexact/sweep.h5")["event_kind"]
names = kinds.attrs["flag_meanings"]
names = (names.decode() if isinstance(names, bytes) else str(names)).split()
values = [int(value) for value in kinds.attrs["flag_values"]]
assert values[names.index("team_size_changed")] in kinds[()].tolist(), kinds[()].tolist()
PY
near straight inexact 1e-3
cp -r killed divided_later
ranks 2 divided_later --set resources.ranks_per_job=2 --set resources.shard_optimizer=true
same straight divided_later
ranks 2 killed --set resources.ranks_per_job=2
same straight killed
# The other way round: written by ranks that divide, read by ranks that do not.
mpirun -q -np 2 "$depthgrid" run "$sweep" "${options[@]}" --set resources.ranks_per_job=2 \
  --set resources.shard_optimizer=true --store divided_first -q >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 1200); do
  [ "$(find divided_first -name 'ckpt-*.h5' 2>/dev/null | wc -l)" -ge 2 ] && break
  sleep 0.05
done
kill -USR1 "$launcher"
wait "$launcher" 2>/dev/null && fail "the run ended before it was stopped"
ranks 2 divided_first --set resources.ranks_per_job=2
same straight divided_first

# Two ranks that both meet such a cell end the run together, whoever comes first: the later one leaves
# the report to the first rank, and reports itself only where that one takes long. Asked to stop by
# USR1, mpirun itself ends with 75.
mpirun -q -np 4 "$depthgrid" run "$sweep" "${options[@]}" --set resources.ranks_per_job=2 --store two -q >/dev/null 2>&1 &
launcher=$!
for _ in $(seq 1200); do
  [ "$(find two -name 'ckpt-*.h5' -printf '%h\n' 2>/dev/null | sort -u | wc -l)" -ge 4 ] && break
  sleep 0.05
done
kill -USR1 "$launcher"
code=0
wait "$launcher" 2>/dev/null || code=$?
[ "$code" = 75 ] || fail "a stopped run ends with $code"
expect 78 mpirun -q -np 2 "$depthgrid" run "$sweep" "${options[@]}" --set resources.ranks_per_job=1 --store two -q
reports=$(grep -c 'was trained up to step .*ranks_per_job=2' err)
[ "$reports" = 1 ] || [ "$reports" = 2 ] || fail "$reports reports of a refused resume by two ranks"
