#!/usr/bin/env bash
# plan: the JSON contract, with and without the worker, without a corpus.
. "$(dirname "$0")/common.sh"
tiny=$sources/configs/tiny.yaml

contract() {
  check 'j["schema"] == 1 and j["done"] == 0 and len(j["cells"]) == 4'
  check 'sorted(c for job in j["jobs"] for c in job["cells"]) == sorted(c["id"] for c in j["cells"])'
  check 'all({"id", "cells", "ranks", "parameters_per_cell", "predicted_seconds", "predicted_bytes", "why"} <= set(job) for job in j["jobs"])'
  check 'all(len({c["structure"] for c in j["cells"] if c["id"] in job["cells"]}) == 1 for job in j["jobs"])'
  check 'all(c["status"] == "pending" for c in j["cells"])'
  check 'len(j["separating_leaves"]) == 1 and j["separating_leaves"][0] == "model.modulation.hidden"'
}

alone
expect 0 alone/depthgrid plan "$tiny" --json
contract
check 'all(job["parameters_per_cell"] is None and job["predicted_seconds"] is None for job in j["jobs"])'
check 'any("costs are unknown" in note for note in j["notes"])'
cp out first
expect 0 alone/depthgrid plan "$tiny" --json
cmp -s first out || fail "the same plan twice gives different texts"
expect 0 alone/depthgrid run -n "$tiny" --json
cmp -s first out || fail "run --dry-run and plan differ"
expect 0 alone/depthgrid plan "$tiny" --teams 4 --json
check 'len(j["jobs"]) == 4 and j["teams"] == 4'
expect 0 alone/depthgrid plan "$tiny" --set packing.fuse=off --json
check 'all(job["why"].startswith("alone: packing.fuse is off") for job in j["jobs"]) and len(j["jobs"]) == 4'
expect 0 alone/depthgrid plan "$tiny"
says out "4 cells, 0 done"
says out "fused: 2 cells of structure"

if [ -x "$build/depthgrid-worker" ]; then
  expect 0 "$depthgrid" plan "$tiny" --json
  contract
  check 'all(job["parameters_per_cell"] > 0 and job["predicted_seconds"] > 0 and job["predicted_bytes"] > 0 for job in j["jobs"])'
  check 'len(j["structures"]) == 2 and all(s["flops_per_token"] > 0 for s in j["structures"])'
  check 'all(s["parameters"] == sum(s["parameter_groups"].values()) for s in j["structures"])'
  cp out first
  expect 0 "$depthgrid" plan "$tiny" --json
  cmp -s first out || fail "the second plan does not come from the cache"
  [ -n "$(find cache/depthgrid -name '*.json')" ] || fail "no cache"
  for file in "$sources"/configs/study3/*.yaml; do  # times are measured for each structure: small ones
    expect 0 "$depthgrid" plan "$file" --set train.batch_size=1 --set model.d_model=64 --set data.seq_len=32 --json
    check 'len(j["cells"]) > 4 and all(job["parameters_per_cell"] > 0 for job in j["jobs"])'
  done
fi
[ ! -e results ] || fail "plan has written a store"
echo "plan: ok"

# Budgets: what is predicted beside what is allowed; a sweep that would need more room is refused, before a store is made.
if [ -x "$build/depthgrid-worker" ]; then
  expect 0 "$depthgrid" plan "$tiny" --set budget.store_bytes=64G --set budget.wall_time=1:00:00
  says out "budget.store_bytes 6"
  says out "budget.wall_time"
  for verb in plan run; do
    expect 78 "$depthgrid" "$verb" "$tiny" --set train.steps=100000 --set budget.store_bytes=1M --store "$scratch/small"
    says err "budget.store_bytes: the sweep needs about"
  done
  [ ! -e "$scratch/small" ] || fail "a refused run has made a store"
  # What is cancelled takes no space: the run is not refused for it, but ends with it.
  expect 0 "$depthgrid" run "$tiny" --set train.steps=20,100000 --only 'steps = 20' --store "$scratch/less" -q
  expect 78 "$depthgrid" run "$tiny" --set train.steps=20,100000 --set budget.store_bytes=64M --store "$scratch/less" -q
  expect 0 "$depthgrid" cancel "$scratch/less" --filter 'steps = 100000'
  expect 4 "$depthgrid" run "$tiny" --set train.steps=20,100000 --set budget.store_bytes=64M --store "$scratch/less" -q
fi
