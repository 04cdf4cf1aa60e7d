#!/usr/bin/env bash
# Labels are shifted once, in every family: a text of period seven is learned, and what comes next is the next letter,
# not the one behind it.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"

for _ in $(seq 1 600); do echo abcdef; done >text.txt # seven characters a line
cat >periodic.yaml <<'YAML'
name: periodic
model: {d_model: 16, n_layers: 2, n_heads: 2, positions: rope}
data: {corpus: file, path: text.txt, tokenizer: byte, seq_len: 21}
train: {steps: 300, batch_size: 4, lr: 1e-2}
eval: {every: null, final_windows: 8}
method: list
include:
  - {model.family: standard}
  - {model.family: time_indexed}
  - {model.family: time_indexed, model.mixer: ssm}
  - {model.family: tong, model.hypernet.hidden: 8}
  - {model.family: hybrid_ode}
  - {model.family: tdt}
  - {model.family: mod}
YAML
expect 0 "$depthgrid" run periodic.yaml --store store -q
expect 0 "$depthgrid" results store --json
check 'len(j["cells"]) == 7 and all(c["metrics"]["final_loss.valid"] < 0.05 for c in j["cells"])'
ids=$(python3 -c 'import json; print(*(c["id"] for c in json.load(open("out"))["cells"]))')
for id in $ids; do
  expect 0 "$depthgrid" generate store --cell "$id" --prompt 'abcdef
abc' --tokens 10 --temperature 0
  [ "$(tail -n 2 out | tr '\n' ' ')" = "abcdef abcdef " ] || fail "$id goes on otherwise"
done
echo "periodic: ok"
