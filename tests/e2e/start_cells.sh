#!/usr/bin/env bash
# Cells that start from cells: order, weights to the bit, kill -9, sources that end badly.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"

cat >phases.yaml <<'YAML'
name: phases
method: list
model: {d_model: 16, n_layers: 2, n_heads: 2, positions: rope}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 200, batch_size: 4, lr: 3e-3}
eval: {every: 50, windows: 8, final_windows: 16}
checkpoint: {every: 10}
include:
  - {tag: phase_b, train.steps: 30, train.lr: 1e-3, model.init.from: arm:phase_a}
  - {tag: same, train.steps: 0, model.init.from: arm:phase_a}
  - {tag: last, train.steps: 0, model.init.from: arm:phase_b}
  - {tag: skipping, model.family: tdt, train.steps: 5, model.init.from: arm:phase_a}
  - {tag: phase_a}
seeds: 2
YAML

# id ALIAS: of the sweep's plan in `plan.json`.
id() { python3 -c 'import json, sys
print(next(c["id"] for c in json.load(open("plan.json"))["cells"] if c["alias"] == sys.argv[1]))' "$1"; }
# fact STORE ALIAS VARIABLE: a text of the cell's result.
fact() {
  local cell
  cell=$(id "$2")
  h5dump -d "/$3" "$1/cells/${cell:0:2}/$cell/result.h5" | sed -n 's/.*(0): "\([^"\\]*\).*/\1/p;T;q'
}

# The plan: sources first, jobs name those they wait for.
expect 0 "$depthgrid" plan phases.yaml --json
cp out plan.json
check '[c["starts_from"] for c in j["cells"] if c["alias"] == "phase_a,s1"] == [None]'
check '{c["alias"]: c["starts_from"] for c in j["cells"]}["same,s1"] == "cell:" + {c["alias"]: c["id"] for c in j["cells"]}["phase_a,s1"]'
check '[b["after"] for b in j["jobs"]][0] == [] and all(b["after"] for b in j["jobs"][1:])'
check 'all(set(b["after"]) <= {x["id"] for x in j["jobs"][:i]} for i, b in enumerate(j["jobs"]))'
expect 0 "$depthgrid" plan phases.yaml
says out 'starts from'

# Two ranks; what begins with 0 steps ends with the weights of its source.
expect 0 mpirun -np 2 "$depthgrid" run phases.yaml --store straight -q
for seed in s0 s1; do
  a=$(fact straight "phase_a,$seed" weights_sha256)
  [ "${#a}" = 64 ] || fail "phase_a has no digest of its weights"
  [ "$(fact straight "same,$seed" weights_sha256)" = "$a" ] || fail "other weights than those of phase_a, $seed"
  [ "$(fact straight "same,$seed" start_weights)" = "cell:$(id "phase_a,$seed")" ] || fail "no provenance"
  [ "$(fact straight "phase_b,$seed" start_weights_sha256)" = "$a" ] || fail "no digest of the source"
  [ -z "$(fact straight "phase_a,$seed" start_weights)" ] || fail "phase_a has drawn its weights"
  b=$(fact straight "phase_b,$seed" weights_sha256)
  [ "$b" != "$a" ] || fail "phase_b has not trained"
  [ "$(fact straight "last,$seed" weights_sha256)" = "$b" ] || fail "other weights than those of phase_b, $seed"
done
[ "$(fact straight same,s0 weights_sha256)" != "$(fact straight same,s1 weights_sha256)" ] || fail "seeds share weights"
expect 0 "$depthgrid" logs "same,s0" straight
says out "phase_a,s0 ($(id phase_a,s0)) after 200 steps, weights $(fact straight phase_a,s0 weights_sha256 | head -c 12)"
# A dense checkpoint lacks exactly the modules of the skipping layer.
expect 0 "$depthgrid" logs "skipping,s1" straight --json
check 'sum("drawn anew: " in e["message"] for e in j["events"]) == 1'
check '[n.split(".")[2] for n in [e for e in j["events"] if e["kind"] == "start_weights"][0]["message"].split("anew: ")[1].split(", ") if n != "…"][0] in ("tpn", "gate", "router")'

# kill -9 of both ranks in phase A; the same command goes on.
mpirun -np 2 "$depthgrid" run phases.yaml --store killed -q 2>/dev/null &
run=$!
for _ in $(seq 2400); do
  [ "$(find killed -name 'ckpt-*.h5' 2>/dev/null | wc -l)" -ge 2 ] && break
  sleep 0.05
done
workers=$(pgrep -P "$run" -f depthgrid-worker || true)
[ -n "$workers" ] || fail "phase A was over before it could be killed"
kill -9 $workers 2>/dev/null || true
wait "$run" 2>/dev/null || true
[ "$(find killed -name result.h5 | wc -l)" -lt 10 ] || fail "nothing was left to be done"
expect 0 mpirun -np 2 "$depthgrid" run phases.yaml --store killed -q
same straight killed

# A source that diverges: those that start from it fail with the reason, others are trained; so it
# stays when the same command is given again.
sed 's/name: phases/name: bad/; s/{tag: phase_a}/{tag: phase_a, train.lr: 1e30}\n  - {tag: alone, train.lr: 2e-3}/; s/seeds: 2/seeds: 1/' phases.yaml >bad.yaml
for _ in 1 2; do
  expect 4 timeout 300 mpirun -np 2 "$depthgrid" run bad.yaml --store bad -q
  expect 4 "$depthgrid" status bad --json
  check 'j["counts"]["diverged"] == 1 and j["counts"]["completed"] == 1 and j["counts"]["failed"] == 4 and j["finished"]'
  check 'all("which has diverged" in p["problem"] or "which ended as failed" in p["problem"] for p in j["problems"] if p["status"] == "failed")'
done

# A source whose checkpoint is gone.
cp -r straight gone
rm gone/cells/*/"$(id phase_a,s0)"/ckpt-*.h5 gone/sweep.h5
rm -r gone/cells/*/"$(id same,s0)" gone/cells/*/"$(id same,s1)"
expect 4 "$depthgrid" run phases.yaml --store gone -q
expect 4 "$depthgrid" status gone
says out 'which has no checkpoint any more'
[ "$(fact gone same,s1 weights_sha256)" = "$(fact straight same,s1 weights_sha256)" ] || fail "a neighbour was lost with it"
# A source whose last checkpoint is damaged: the same, and no cell begins with other weights instead.
cp -r straight damaged
rm -r damaged/sweep.h5 damaged/cells/*/"$(id same,s0)"
checkpoint=$(ls damaged/cells/*/"$(id phase_a,s0)"/ckpt-*.h5)
printf '\xff\x00\xff' | dd of="$checkpoint" bs=1 seek=$(($(stat -c %s "$checkpoint") / 2)) conv=notrunc status=none
expect 4 "$depthgrid" run phases.yaml --store damaged -q
says err 'the checkpoint of its last step is damaged'
[ ! -e damaged/cells/*/"$(id same,s0)"/result.h5 ] || fail "a cell began without the weights of its source"
# A cell that has begun needs its source no more.
cp -r straight begun
rm begun/cells/*/"$(id phase_a,s0)"/ckpt-*.h5 begun/cells/*/"$(id phase_b,s0)"/result.h5
expect 0 "$depthgrid" run phases.yaml --store begun -q
[ "$(fact begun phase_b,s0 weights_sha256)" = "$(fact straight phase_b,s0 weights_sha256)" ] || fail "it began anew"

# What does not fit is refused before there is a store; so are tags that are not there.
sed 's/{tag: same,/{tag: same, model.d_model: 32,/' phases.yaml >wide.yaml
for verb in validate plan 'run -q --store wide'; do
  expect 2 "$depthgrid" ${verb%% *} wide.yaml $(case $verb in run*) echo "${verb#run }" ;; esac)
  says err 'wide.yaml:10:'
  says err 'embedding.weight: 16 x 16 there, 16 x 32 here'
done
[ ! -e wide/plan.h5 ] || fail "a plan that cannot be trained was published"
expect 2 "$depthgrid" validate phases.yaml --set model.init.from=arm:phase_c
says err "did you mean 'arm:phase_"
echo "start_cells: ok"
