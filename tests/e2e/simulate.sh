#!/usr/bin/env bash
# plan --simulate: a sweep on clusters, as text and JSON; ten thousand cells at once; what is refused.
. "$(dirname "$0")/common.sh"
tiny=$sources/configs/tiny.yaml

alone
expect 78 alone/depthgrid plan "$tiny" --simulate 1x1
says err "its time is unknown"
expect 2 "$depthgrid" plan "$tiny" --simulate 4
says err "'4'"
expect 2 "$depthgrid" plan "$tiny" --simulate 1x1 --time-limit soon
says err "--time-limit is soon"
expect 2 "$depthgrid" plan "$tiny" --preemption 1
says err "--simulate"

if [ -x "$build/depthgrid-worker" ]; then
  expect 0 "$depthgrid" plan "$tiny" --simulate 1x1,1x2,2x2 --launch 0 --set packing.fuse=off --json
  check '[s["nodes"] * s["devices_per_node"] for s in j["simulation"]] == [1, 2, 4]'
  # Without overhead or interruptions one device takes what the plan says; more take no longer.
  check 'abs(j["simulation"][0]["makespan_seconds"]["mean"] / j["predicted_seconds"] - 1) < 1e-9'
  check 'j["simulation"][0]["makespan_seconds"]["mean"] > j["simulation"][1]["makespan_seconds"]["mean"] >= j["simulation"][2]["makespan_seconds"]["mean"]'
  check 'all(s["makespan_seconds"]["mean"] >= s["bound_seconds"] * (1 - 1e-9) for s in j["simulation"])'
  expect 0 "$depthgrid" plan "$tiny" --simulate 4x8 --set seeds=2500 --set train.steps=200000 --preemption 0.5 --time-limit 1:00:00
  says out "32"
  says out "0.5 preemptions per node and hour"
  cp out first
  expect 0 "$depthgrid" plan "$tiny" --simulate 4x8 --set seeds=2500 --set train.steps=200000 --preemption 0.5 --time-limit 1:00:00
  cmp -s first out || fail "the same simulation twice gives different texts"
  expect 0 "$depthgrid" plan "$tiny" --teams 4 --set resources.max_cell_time=0:00:01 --set train.steps=100000000 --json
  check 'all(job["ranks"] == 4 for job in j["jobs"])'
  check 'any("resources.ranks_per_job is auto" in note for note in j["notes"])'
fi
[ ! -e results ] || fail "plan has written a store"
echo "simulate: ok"
