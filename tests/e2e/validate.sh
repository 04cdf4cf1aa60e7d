#!/usr/bin/env bash
# validate and schema: the sweep files that come with the sources, and the table of keys.
. "$(dirname "$0")/common.sh"

while IFS= read -r file; do
  expect 0 "$depthgrid" validate "$file"
  says out "$file: "
  silent err
done < <(find "$sources/configs" -name '*.yaml' -not -path '*/base/*')

expect 0 "$depthgrid" validate "$sources/configs/tiny.yaml" --json
check 'j["schema"] == 1 and j["valid"] is True and j["errors"] == []'
check 'j["cells"] == 4 and j["structures"] == 2 and j["notes"] == []'
expect 0 "$depthgrid" validate "$sources/configs/tiny.yaml" --set seeds=5 --json
check 'j["cells"] == 10'
expect 0 "$depthgrid" validate "$sources/configs/tiny.yaml" --set train.lr=1e-3,3e-3 --json
check 'j["cells"] == 8 and j["structures"] == 2'
expect 2 "$depthgrid" validate "$sources/configs/tiny.yaml" --set train.rl=1
says err "train.lr"

expect 0 "$depthgrid" schema
says out "train.lr"
expect 0 "$depthgrid" schema --json
check 'j["schema"] == 1 and any(l["path"] == "train.lr" and l["class"] == "PerCell" for l in j["leaves"])'
check 'all({"path", "type", "default", "class", "doc"} <= set(l) for l in j["leaves"])'
expect 0 "$depthgrid" schema --json-schema
check '"$schema" in j and "properties" in j'
expect 0 "$depthgrid" schema --markdown
says out "train.lr"
# The templates for a cluster, each as the base of a sweep; what they say arrives.
for template in one_gpu:1:1 packed_node:4:1 data_parallel:4:2; do
  IFS=: read -r name gpus nodes <<<"$template"
  { echo "base: $sources/scripts/slurm/$name.yaml" && cat "$sources/configs/tiny.yaml"; } >"on_$name.yaml"
  expect 0 "$depthgrid" validate "on_$name.yaml" --json
  check 'j["valid"] is True and j["cells"] == 4'
  expect 0 "$depthgrid" show hidden=4,s0 "on_$name.yaml" --all
  grep -Eq "^resources.gpus +$gpus +base, " out || fail "the gpus of $name do not arrive"
  grep -Eq "^resources.nodes +$nodes " out || fail "the nodes of $name do not arrive"
done
[ "$(find "$sources/scripts/slurm" -name '*.yaml' | wc -l)" = 3 ] || fail "a template that this test does not know"
[ ! -e results ] || fail "validate has written something"
echo "validate: ok"
