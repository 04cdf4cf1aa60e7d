#!/usr/bin/env bash
# Ten broken sweep files: exit 2, every problem in one go with its place, never a store.
. "$(dirname "$0")/common.sh"

# broken NAME LINE:COLUMN... < TEXT: the problems stand at these places, and there are no others.
broken() {
  local file=$1.yaml
  shift
  cat >"$file"
  expect 2 "$depthgrid" validate "$file"
  silent out
  for place in "$@"; do
    says err "$file:$place: "
  done
  grep -q '| *^' "$scratch/err" || fail "no caret"
  echo "== $file"
  cat "$scratch/err"
  expect 2 "$depthgrid" validate "$file" --json
  check "j['schema'] == 1 and j['valid'] is False and len(j['errors']) == $#"
  check "sorted('%d:%d' % (e['line'], e['column']) for e in j['errors']) == sorted('$*'.split())"
  expect 2 "$depthgrid" run "$file" --store store
  expect 2 "$depthgrid" plan "$file"
  [ ! -e store ] || fail "$file has left a store"
}

broken unknown_keys 3:3 5:1 <<'Y'
name: unknown
model:
  d_modle: 64
  n_layers: 2
trian: {steps: 3}
Y
says err "d_model"

broken duplicate_key 4:3 <<'Y'
train:
  steps: 10
  lr: 1e-3
  steps: 20
Y

broken wrong_types 2:10 3:7 4:14 <<'Y'
train:
  steps: many
  lr: fast
  optimizer: [adam]
Y

broken out_of_range 2:12 4:14 5:14 <<'Y'
model:
  d_model: -4
train:
  optimizer: sgd
  precision: fp16
Y

broken leading_zero 2:10 3:15 <<'Y'
train:
  steps: 010
  batch_size: 008
Y

broken anchor_and_tag 2:9 4:10 <<'Y'
model:
  norm: &n pre
train:
  steps: !!int "3"
Y

broken second_document 3:1 <<'Y'
name: first
seeds: 2
---
name: second
Y

broken empty_grid 3:13 <<'Y'
name: empty
parameters:
  train.lr: []
Y

broken heads_do_not_divide 2:3 <<'Y'
model:
  d_model: 64
  n_heads: 5
Y

printf 'model:\n  d_model: [64\ntrain: {steps: 3}\n' >unclosed.yaml
expect 2 "$depthgrid" validate unclosed.yaml
says err "unclosed.yaml:"

printf 'name: \377\376\n' >bytes.yaml
expect 2 "$depthgrid" validate bytes.yaml
: >nothing.yaml
expect 2 "$depthgrid" validate nothing.yaml
says err "nothing.yaml: "

printf 'parameters:\n  train.lr: {linspace: [0.1, 1, 1000000]}\n  train.weight_decay: {linspace: [0, 1, 1000000]}\n' >huge.yaml
expect 2 timeout 60 "$depthgrid" validate huge.yaml
says err "\`max_cells\` (1,000,000)"
echo "broken_files: ok"
