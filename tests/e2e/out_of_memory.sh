#!/usr/bin/env bash
# Cells that do not fit in memory: a fused job is split, and a cell alone is tried again in a new process.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
# The audit would need memory before a cell does, and is not what is tried here.
without_audit
{ cat "$sources/scripts/gpu_check/large.yaml"; echo "probes: {trajectory: {schedule: off}, gradients: {schedule: off}, logit_lens: {schedule: off}, attention: {schedule: off}, weights: {schedule: off}}"; } >large.yaml  # little to compute, much to hold

# room_for NAME COMMAND...: sets $room, the least address space (in KiB, to 100,000) in which the command trains a
# small sweep, and a little more.
room_for() {
  local name=$1 fails=300000 passes=3300000 attempt=0
  shift
  while ((passes - fails > 100000)); do
    room=$(((fails + passes) / 2))
    attempt=$((attempt + 1))
    if (ulimit -S -v "$room" && "$@" run "$sweep" "${unaudited[@]}" --set retry.crash=0 \
      --set retry.backoff=0 --store "$name-$attempt" -q) >out 2>err; then
      passes=$room
    else
      fails=$room
    fi
  done
  ((passes < 3300000)) || fail "no limit lets a small sweep pass"
  room=$((passes + 200000))
}

# Programs under which only the first worker is short of memory: those that it starts are not.
mkdir programs
cp "$depthgrid" programs/depthgrid
cp "$build/depthgrid-worker" programs/real-worker
cat >programs/depthgrid-worker <<W
#!/usr/bin/env bash
if mkdir "$scratch/\$LIMIT_ONCE" 2>/dev/null; then ulimit -S -v "\$ROOM"; else ulimit -S -v unlimited; fi
case \$* in *'"mode":"apart"'*) [ -z "\${FRESH_DIES:-}" ] || kill -9 \$\$ ;; esac
exec "$scratch/programs/real-worker" "\$@"
W
chmod +x programs/depthgrid-worker

# facts STORE: outcome and process of every attempt at every cell, in order.
facts() {
  local cell
  for cell in "$1"/cells/*/*; do
    "$depthgrid" logs "$(basename "$cell")" "$1" --json | python3 -c '
import json, sys
log = json.load(sys.stdin)
print(*[(a["outcome"], a["facts"]["cells"]) for a in log["attempts"]], *sorted({e["kind"] for e in log["events"]} & {"failure", "warning"}))
pids = [a["facts"]["pid"] for a in log["attempts"]]
assert pids[-1] != pids[0], pids'
  done
}

for launcher in "" "mpirun -np 1"; do
  rm -rf fresh limited
  room_for "small${launcher:+-launched}" $launcher "$depthgrid"
  [ -n "$launcher" ] || alone=$room
  ROOM=$room LIMIT_ONCE=limited expect 0 $launcher programs/depthgrid run large.yaml "${unaudited[@]}" --store fresh
  says err 'split in two'
  says err 'retrying in a new process'
  says err '2 of 2 cells completed'
  expect 0 "$depthgrid" status fresh
  facts fresh >all
  [ "$(sort -u all)" = "('oom', 2) ('oom', 1) ('done', 1) failure warning" ] || fail "attempts are not as expected: $(cat all)"
done

# A new process that the system kills for its memory was out of memory, too.
rm -rf limited
FRESH_DIES=1 ROOM=$alone LIMIT_ONCE=limited expect 4 timeout 300 programs/depthgrid run large.yaml "${unaudited[@]}" --store killed -q
expect 4 "$depthgrid" status killed --json
check 'j["counts"]["oom"] == 2'

# Short of memory for ever: every cell ends as oom, and says how much it had taken.
code=0
(ulimit -S -v "$alone" && "$depthgrid" run large.yaml "${unaudited[@]}" --store never -q) >out 2>err || code=$?
[ "$code" = 4 ] || fail "cells that never fit: exit code $code, not 4"
expect 4 "$depthgrid" status never --json
check 'j["counts"]["oom"] == 2 and all("out of memory with one cell alone; peak" in p["problem"] for p in j["problems"])'
facts never >all
[ "$(sort -u all)" = "('oom', 2) ('oom', 1) ('oom', 1) failure warning" ] || fail "attempts are not as expected: $(cat all)"

# A team of several ranks splits nothing; its supervisor starts it again with half of the cells.
small=(--set packing.fuse=2 --set resources.ranks_per_job=2 --set retry.backoff=0.1)
expect 0 "$depthgrid" run "$sweep" "${small[@]}" --store team -q -j 2
first=$("$depthgrid" results team --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["cells"][0]["id"])')
DEPTHGRID_FAULT=oom@10@$first expect 77 mpirun -q -np 2 "$depthgrid" run "$sweep" "${small[@]}" --store launched -q
says err "Teams of several ranks split nothing"
DEPTHGRID_FAULT=oom@10@$first expect 4 "$depthgrid" run "$sweep" "${small[@]}" --store halved -q -j 2
says err "does not fit in memory: it is split"
expect 4 "$depthgrid" status halved --json
check "j['counts']['oom'] == 1 and j['counts']['completed'] == 3 and j['problems'][0]['id'] == '$first'"
expect 0 "$depthgrid" logs "$first" halved --json
check "j['failure']['class'] == 'oom' and 'peak of this rank' in j['failure']['message']"
check "'Teams of several' not in j['failure']['last_words']"
check "'--only id=$first' in j['failure']['repeat']"
expect 0 "$depthgrid" run "$sweep" "${small[@]}" --store halved -q -j 2
same team halved
echo "out_of_memory: ok"
