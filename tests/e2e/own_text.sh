#!/usr/bin/env bash
# A text of one's own: cut without newlines, shares for valid and test, and a finished store that
# needs nothing outside of itself, whatever the tokeniser.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"

for i in $(seq 1 900); do printf 'the %s small fox jumps over %s dogs ' "$i" "$((i * 7 % 31))"; done >text.txt
kinds="byte char256 char word"
if [ -n "$corpora" ] && [ -d "$corpora/gpt2-bpe" ]; then
  kinds="$kinds gpt2"
  cp -r "$corpora/gpt2-bpe" gpt2
fi
for kind in $kinds; do
  case $kind in
  char) more="model.vocab_size=64" ;;
  word) more="data.vocab_size=40" ;;
  gpt2) more="data.tokenizer_path=gpt2" ;;
  *) more="train.batch_size=4" ;;
  esac
  cat >"$kind.yaml" <<YAML
name: $kind
model: {d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: file, path: text.txt, tokenizer: $kind, seq_len: 16, valid_fraction: 0.05, test_fraction: 0.1}
train: {steps: 4, batch_size: 4}
eval: {every: 2, windows: 4, final_splits: [valid, test]}
YAML
  expect 0 "$depthgrid" run "$kind.yaml" -q --set "$more"
done

# numbers KIND: loss on each split, and a text
numbers() {
  local split
  for split in dev valid test; do
    "$depthgrid" eval "results/$1" --cell baseline,s0 --split "$split" --json |
      python3 -c 'import json, sys; m = json.load(sys.stdin)["modes"][0]; print(m["tokens"], m["loss"])'
  done
  "$depthgrid" generate "results/$1" --cell baseline,s0 --prompt 'the fox' --tokens 12
}
for kind in $kinds; do
  numbers "$kind" >"$kind.before" 2>"$scratch/err" || fail "$kind: eval with the text at hand"
done

# Another text under the same name: what was trained on is evaluated.
cp text.txt kept.txt
echo 'another text' >>text.txt
for kind in $kinds; do
  numbers "$kind" >"$kind.changed" 2>"$scratch/err" || fail "$kind: eval with a changed text"
  cmp -s "$kind.before" "$kind.changed" || fail "$kind: other numbers with a changed text"
done
says err 'have changed since the store was begun'
mv kept.txt text.txt

# The folder moves, the text and the tokeniser's files are gone.
mkdir elsewhere
mv results text.txt elsewhere/
[ ! -d gpt2 ] || mv gpt2 elsewhere/gone
mv elsewhere/text.txt elsewhere/other-name.txt
cd elsewhere
for kind in $kinds; do
  numbers "$kind" >"../$kind.after" 2>"$scratch/err" || fail "$kind: eval without the text"
  cmp -s "../$kind.before" "../$kind.after" || fail "$kind: other numbers without the text"
done
says err 'its files or those of its tokeniser are not there'

# With a damaged token file the missing text is the error, and nothing is computed.
for file in results/byte/tokens/*.tokens; do truncate -s 70 "$file"; done
expect 66 "$depthgrid" eval results/byte --cell baseline,s0
says err 'text.txt'
cd ..

# What is refused for its packing says a command that makes a text of it, and what was packed is trained on and
# evaluated as the text itself is.
mv elsewhere/other-name.txt text.txt
cp text.txt packed.txt && gzip packed.txt
expect 2 "$depthgrid" validate byte.yaml --set data.path=packed.txt.gz
command=$(sed -n 's/.*run  \(gzip .*\)  and name .*/\1/p' err | head -1)
[ -n "$command" ] || fail "no command is named for a packed text"
bash -c "$command" || fail "the command that the message names does not work: $command"
expect 0 "$depthgrid" run byte.yaml -q --store unpacked --set data.path=packed.txt
losses() {
  "$depthgrid" results "$1" --json | python3 -c 'import json, sys
cell = json.load(sys.stdin)["cells"][0]
print(cell["status"], sorted((k, v) for k, v in cell["metrics"].items() if "loss" in k))'
}
[ "$(losses unpacked)" = "$(losses elsewhere/results/byte)" ] || fail "unpacked: other numbers than of the text"

# Another text is read by `eval` as training reads it.
printf 'the %s small fox\n' 1 2 3 4 5 >plain.txt
printf '\357\273\277' | cat - plain.txt >marked.txt
sed 's/.*/{"text": "&"}/' plain.txt >records.NDJSON
gzip -k plain.txt
for file in plain.txt marked.txt records.NDJSON; do
  expect 0 "$depthgrid" eval elsewhere/results/byte --cell baseline,s0 --data "$file" --json
  python3 -c 'import json, sys; print(json.load(sys.stdin)["modes"])' <out >"$file.modes"
  cmp -s plain.txt.modes "$file.modes" || fail "$file: other numbers than of the text in it"
done
expect 65 "$depthgrid" eval elsewhere/results/byte --cell baseline,s0 --data plain.txt.gz
cp records.NDJSON records.txt  # by the cell's own word, where it says one
expect 65 "$depthgrid" eval elsewhere/results/byte --cell baseline,s0 --data records.txt
says err "data.format: jsonl"
for i in $(seq 1 40); do cat records.txt; done >many.txt
expect 0 "$depthgrid" run byte.yaml -q --store said --set data.path=many.txt --set data.format=jsonl
expect 0 "$depthgrid" eval said --cell baseline,s0 --data records.txt --json
cp out one.json
expect 0 "$depthgrid" eval said --cell baseline,s0 --data records.NDJSON --json
cmp -s <(grep -v '"data"' out) <(grep -v '"data"' one.json) || fail "the cell's data.format was not heeded"
expect 65 "$depthgrid" eval elsewhere/results/byte --cell baseline,s0 --data plain.txt.gz
says err "gzip -dc"
