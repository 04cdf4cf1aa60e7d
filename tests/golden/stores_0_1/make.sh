#!/usr/bin/env bash
# Stores as release 0.1 leaves them: make.sh BUILD_FOLDER_OF_0.1. Writes stores.tar.xz beside this file.
#   text/    JSON lines with the default data.text_key: one arm finished and packed, one killed half way
#   key/     another key, which was no part of a cell's identity then: likewise
#   both/    two plans with different keys and the same ids: trained under the first, listed under the second
# tests/e2e/old_stores.sh goes on with them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
depthgrid=$(cd "$1" && pwd)/depthgrid
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
python3 - <<'PY'
import json
words = "the depth of a model is a line along which its weights move and its states flow".split()
draw = 7
def sentence(n):
    global draw
    out = []
    for _ in range(n):
        draw = draw * 1103515245 + 12345 & 0x7FFFFFFF
        out.append(words[(draw >> 16) % len(words)])
    return " ".join(out) + ".\n"
with open("posts.jsonl", "w") as file:
    for _ in range(60):
        file.write(json.dumps({"text": sentence(20), "body": sentence(16).upper()}) + "\n")
PY
cat >text.yaml <<'YAML'
name: old
model: {family: standard, d_model: 16, n_layers: 1, n_heads: 2, vocab_size: 64}
data: {corpus: file, path: posts.jsonl, tokenizer: char, seq_len: 16}
train: {steps: 100, batch_size: 4}
eval: {every: 25}
checkpoint: {every: 20}
parameters: {train.lr: [1e-3, 3e-3]}
YAML
sed 's/path: posts.jsonl/&, text_key: body/' text.yaml >key.yaml
sed 's/path: posts.jsonl/&, text_key: text/' text.yaml >other.yaml

# finished FILE STORE: the first arm, whole. killed FILE STORE: the second, until it has a checkpoint.
finished() { "$depthgrid" run -q "$1" --store "$2" --only 'lr = 1e-3'; }
killed() {
  local before after
  before=$(find "$2/cells" -name 'ckpt-*.h5' | wc -l)
  setsid "$depthgrid" run -q "$1" --store "$2" --only 'lr = 3e-3' &
  for _ in $(seq 3000); do
    after=$(find "$2/cells" -name 'ckpt-*.h5' | wc -l)
    ((after > before)) && break
    sleep .005
  done
  kill -9 -- "-$!"
  wait "$!" 2>/dev/null || true
}
for store in text key; do
  finished "$store.yaml" "$store"
  killed "$store.yaml" "$store"
  "$depthgrid" pack "$store" >/dev/null
done
finished key.yaml both
killed key.yaml both
"$depthgrid" run -q other.yaml --store both --only 'lr = 1e-3'
"$depthgrid" pack both >/dev/null
for store in text key both; do
  "$depthgrid" results "$store" --json >"$store.json"
  rm -rf "$store"/{logs,tokens,live}
done
find key both -name 'ckpt-*' -delete  # nothing is resumed from there
"$depthgrid" --version >version.txt
tar -cJf "$here/stores.tar.xz" posts.jsonl ./*.yaml ./*.json version.txt text key both
ls -l "$here/stores.tar.xz"
