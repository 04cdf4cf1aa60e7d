#!/usr/bin/env bash
# What a user asks of cells while they train: cancel ends one cell of a fused job and leaves its neighbours' bits,
# retry brings it back with the bits of an undisturbed run; status --watch and logs -f follow until the end.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
cat >sweep.yaml <<'YAML'
name: asked
model: {family: standard, d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 2500, batch_size: 4}
eval: {every: 500, windows: 16, final_windows: 64}
checkpoint: {every: 100}
packing: {fuse: 4}
parameters:
  train.lr: [1e-3, 2e-3, 3e-3, 4e-3]
YAML
sweep=$scratch/sweep.yaml
without_audit
options=("${unaudited[@]}")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

# equal_but A B ALIAS: all cells but one have the same losses and weights in both, to the bit.
equal_but() {
  "$sources/.venv/bin/python" - "$@" <<'PY' || fail "$1 and $2 differ in more than $3"
import sys
import h5py

a, b = (h5py.File(f"{store}/sweep.h5") for store in sys.argv[1:3])
names = [n.decode() for n in a["cell_alias"][()]]
bits = lambda value: value if isinstance(value, bytes) else value.tobytes()
same = lambda v, row: bits(a[v][row]) == bits(b[v][row])
differ = [n for row, n in enumerate(names) if not all(
    same(v, row) for v in ("train_loss", "train_grad_norm", "eval_loss", "final_loss", "weights_sha256"))]
print(f"{sys.argv[1]} and {sys.argv[2]}: {len(names) - len(differ)} of {len(names)} cells are equal")
sys.exit(0 if differ == [sys.argv[3]] else 1)
PY
}

run() { "$depthgrid" run "$sweep" "${options[@]}" --store "$1" -q "${@:2}"; }
train calm

# Cancelled while it trains. Meanwhile others watch.
run asked 2>/dev/null &
pid=$!
begun asked
"$depthgrid" status asked --watch 1 >lines 2>&1 &
watcher=$!
"$depthgrid" logs lr=0.001,s0 asked -f >followed 2>&1 &
follower=$!
for _ in $(seq 50); do # it tells of its job a little after the journals are there
  expect 3 "$depthgrid" status asked --json
  grep -q '"jobs": 1,' out && break
  sleep 0.05
done
check 'j["activity"]["runs"] == 1 and j["activity"]["jobs"] == 1 and j["counts"]["running"] == 4'
expect 0 "$depthgrid" cancel lr=0.002,s0 asked -n --json
check 'j["dry_run"] and j["cells"][0]["outcome"] == "asked"'
[ ! -e asked/orders ] || fail "-n has left an order"
expect 0 "$depthgrid" cancel lr=0.002,s0 asked --json
check '[(c["alias"], c["before"], c["outcome"]) for c in j["cells"]] == [("lr=0.002,s0", "running", "asked")]'
ends 4 "$pid" "the run with a cancelled cell"
ends 4 "$watcher" "status --watch"
ends 0 "$follower" "logs -f"
grep -q '4 running; .* cell-steps' lines || fail "status --watch has not seen the run"
grep -q '1 cancelled' lines || fail "status --watch has not seen the end"
grep -q 'job .* starts at step 0 of 2500' followed || fail "logs -f has not seen the job"
[ -z "$(ls asked/orders)" ] || fail "an order is left"
expect 4 "$depthgrid" status asked --json
check 'j["counts"]["cancelled"] == 1 and j["counts"]["completed"] == 3 and "retry" in j["problems"][0]["problem"]'
check '0 < j["problems"][0]["step"] < 2500 and j["rank_hours"]["used"] > 0 and j["activity"]["runs"] == 0'
equal_but calm asked lr=0.002,s0

# Left alone by the next run, until retry.
expect 4 run asked
expect 4 "$depthgrid" status asked --json
check 'j["counts"]["cancelled"] == 1'
expect 0 "$depthgrid" retry asked --failed --json
check 'j["cells"] == []'
expect 2 "$depthgrid" retry asked --class crahs
says err "cancelled, crash, disk"
expect 0 "$depthgrid" retry asked --class cancelled
says out 'lr=0.002,s0'
expect 3 "$depthgrid" status asked
expect 0 run asked
same calm asked
expect 0 "$depthgrid" retry lr=0.002,s0 asked --json
check 'j["cells"][0]["outcome"] == "not_failed"'

# A node that is left out: status names it, its cause and the command that readmits it.
mkdir asked/nodes
echo '{"schema": 1, "node": "n7", "cause": "device", "why": "the card is lost", "when": "2026-01-01T00:00:00Z",
  "task": "5_1", "launch": "0a1b"}' >asked/nodes/n7.json
expect 0 "$depthgrid" status asked
says out "depthgrid retry --node n7 asked"
expect 0 "$depthgrid" status asked --json
check '[(n["node"], n["cause"], n["times"]) for n in j["nodes_left_out"]] == [("n7", "device", 1)]'
expect 0 "$depthgrid" retry --node n7 asked --dry-run --json
check 'j["dry_run"] and j["nodes"] == [{"node": "n7", "outcome": "readmitted"}]'
expect 0 "$depthgrid" retry --node n7 asked
expect 0 "$depthgrid" retry --node n7 asked --json
check 'j["nodes"] == [{"node": "n7", "outcome": "not_left_out"}]'
expect 0 "$depthgrid" status asked --json
check 'j["nodes_left_out"] == []'

# The same in a team of two ranks, the others of which hear of it from the first.
options+=(--set resources.ranks_per_job=2)
ranks 2 team-calm
mpirun -np 2 "$depthgrid" run "$sweep" "${options[@]}" --store team -q >/dev/null 2>&1 &
pid=$!
begun team
expect 0 "$depthgrid" cancel --filter 'lr = 3e-3' --store team
ends 4 "$pid" "the team with a cancelled cell"
equal_but team-calm team lr=0.003,s0
expect 0 "$depthgrid" retry team --class cancelled
ranks 2 team
same team-calm team
options=("${unaudited[@]}")

# Cells that nobody has: at once, by any choice.
expect 0 run parts --only 'lr = 1e-3' --set packing.fuse=1
expect 0 "$depthgrid" cancel parts --all --json
check '[c["outcome"] for c in j["cells"]] == ["cancelled"] * 3'
expect 4 "$depthgrid" status parts
expect 0 "$depthgrid" cancel parts --all
says out 'no such cell'
expect 2 "$depthgrid" cancel parts
expect 2 "$depthgrid" retry parts
expect 2 "$depthgrid" cancel nobody parts

# On a terminal the display is drawn in place, and its last screen is the status.
expect 0 "$depthgrid" retry parts --class cancelled
run parts --set packing.fuse=1 2>/dev/null &
pid=$!
python3 - "$depthgrid" status parts --watch 1 <<'PY' || fail "status --watch on a terminal"
import os, pty, sys

os.environ["TERM"] = "xterm"
seen = b""
def keep(fd):
    global seen
    data = os.read(fd, 65536)
    seen += data
    return data
code = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], keep, lambda fd: os.read(fd, 1)))
screens = seen.count(b"A\r\x1b[J")
print(f"{screens} screens, then {code}")
sys.exit(0 if code == 0 and screens >= 2 and b"completed" in seen[seen.rindex(b"\x1b[J"):] else 1)
PY
ends 0 "$pid" "the run that was watched"

# A run that was killed leaves its board, and gc removes it.
"$depthgrid" run "$sweep" "${options[@]}" --set train.steps=100000 --set retry.infrastructure=0 --store killed -q 2>/dev/null &
pid=$!
begun killed
kill -9 "$(pgrep -P "$pid" -f depthgrid-worker)"
wait "$pid" || true
[ -n "$(ls killed/live)" ] || fail "a killed run leaves no progress channel"
"$depthgrid" gc killed --json >out
check 'any("live" in f for f in j["runs"]["files"])'
[ -z "$(ls killed/live)" ] || fail "gc has left the progress channel"
