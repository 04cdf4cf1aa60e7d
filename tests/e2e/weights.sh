#!/usr/bin/env bash
# Weights out of one store and into another, evaluation and generation: the same numbers to the bit.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"

{ for i in $(seq 1 400); do echo "the $i small fox of $((i * 7 % 31)) jumps over $((i * 13 % 17)) dogs"; done; } >text.txt
cat >first.yaml <<'YAML'
name: first
model: {d_model: 16, n_layers: 2, n_heads: 2, activation: gelu_tanh}
data: {corpus: file, path: text.txt, tokenizer: byte, seq_len: 24}
train: {steps: 30, batch_size: 4, lr: 3e-3}
eval: {every: 10, windows: 8, final_windows: 16}
parameters:
  model.family: [standard, time_indexed, tong]
YAML
expect 0 "$depthgrid" run first.yaml -q
# numbers STORE: "id alias eval_loss.valid final_loss.valid" of each cell, all digits
numbers() {
  "$depthgrid" results "$1" --json | python3 -c '
import json, sys
for c in json.load(sys.stdin)["cells"]:
    print(c["id"], c["alias"].split(",")[0], c["metrics"]["eval_loss.valid"], c["metrics"]["final_loss.valid"])'
}
# loss FORMAT OPTION...: of the row of mode dense, as a float of four (f) or eight (d) bytes
loss() {
  local format=$1
  shift
  expect 0 "$depthgrid" eval "$@" --json
  python3 -c 'import json, struct, sys
f = sys.argv[1]
print(struct.unpack(f, struct.pack(f, json.load(open("out"))["modes"][0]["loss"]))[0])' "$format"
}

# What eval says is what the run has recorded (eval_loss in four bytes); out and in again, it
# stays so.
numbers results/first >first.txt
while read -r id alias periodic final; do
  family=${alias##*=}
  [ "$(loss f results/first --cell "$id" --windows 8)" = "$periodic" ] || fail "eval of $family: not eval_loss $periodic"
  [ "$(loss d results/first --cell "$id" --windows 16)" = "$final" ] || fail "eval of $family: not final_loss $final"
  expect 0 "$depthgrid" export results/first --cell "$id" --out "kept/$family.safetensors" --json
  check 'j["layout"] == "native" and j["step"] == 30'
  sed "s/name: first/name: again_$family/; s/activation/init: {from: kept\/$family.safetensors}, activation/; s/steps: 30/steps: 0/; s/standard, time_indexed, tong/$family/" first.yaml >again.yaml
  expect 0 "$depthgrid" run again.yaml -q
  read -r other _ periodic_again final_again < <(numbers "results/again_$family")
  [ "$other" != "$id" ] || fail "a cell that starts from weights is another cell"
  [ "$periodic_again $final_again" = "$periodic $final" ] || fail "$family: $periodic_again $final_again is not $periodic $final"
  expect 0 "$depthgrid" export "results/again_$family" --cell "$other" --out again.safetensors
  python3 - "kept/$family.safetensors" again.safetensors <<'PY' || fail "$family: weights have changed on the way"
import struct, sys
a, b = (open(f, "rb").read() for f in sys.argv[1:3])
a, b = (x[8 + struct.unpack("<Q", x[:8])[0]:] for x in (a, b))
sys.exit(0 if a == b and len(a) > 1000 else 1)
PY
  # Text from weights that came back is the same text.
  "$depthgrid" generate results/first --cell "$id" --prompt 'the ' --tokens 40 --seed 5 >one
  "$depthgrid" generate "results/again_$family" --cell "$other" --prompt 'the ' --tokens 40 --seed 5 >two
  cmp -s one two || fail "$family: another text"
  "$depthgrid" generate results/first --cell "$id" --prompt 'the ' --tokens 40 --seed 6 >two
  ! cmp -s one two || fail "$family: another seed, the same text"
done <first.txt

# The other layout, for the family that has it.
read -r id _ periodic final < <(grep standard first.txt)
expect 0 "$depthgrid" export results/first --cell "$id" --layout hf-gpt2 --out hf
sed "s/name: first/name: hf/; s/activation/init: {from: hf, layout: hf-gpt2}, activation/; s/steps: 30/steps: 0/; s/standard, time_indexed, tong/standard/" first.yaml >hf.yaml
expect 0 "$depthgrid" run hf.yaml -q
read -r _ _ periodic_again final_again < <(numbers results/hf)
[ "$periodic_again $final_again" = "$periodic $final" ] || fail "hf-gpt2: $final_again is not $final"
read -r other _ < <(grep tong first.txt)
expect 2 "$depthgrid" export results/first --cell "$other" --layout hf-gpt2 --out no
says err 'model.family is not standard'
[ ! -e no ] || fail "nothing should be written"

# Other steps, other data, the window's end, and what is refused.
expect 0 "$depthgrid" eval results/first --cell "$id" --at best --by-position --windows 8 --json
check 'len(j["modes"][0]["loss_by_position"]) == 24'
expect 0 "$depthgrid" generate results/first --cell "$id" --prompt 'the small fox' --tokens 60 --temperature 0 --json
check 'len(j["tokens"]) == 60 and j["window_moves"] > 0 and j["prompt_tokens"][:4] == [116, 104, 101, 32]'
printf 'the small fox of the dogs' >short.txt
expect 0 "$depthgrid" eval results/first --cell "$id" --data short.txt --json
check 'j["modes"][0]["tokens"] == 24 and j["split"] is None'
expect 66 "$depthgrid" eval results/first --cell "$id" --data absent.txt
expect 66 "$depthgrid" eval results/first --cell "$id" --at 7
says err 'there are: '
expect 2 "$depthgrid" eval results/first --cell "$id" --split everything
expect 2 "$depthgrid" generate results/first --cell "$id" --prompt ''
expect 2 "$depthgrid" generate results/first --cell "$id" --prompt x --top-p 1.5
expect 65 "$depthgrid" run hf.yaml --store other -q --set model.n_heads=4
says err 'n_head: 2 there, 4 here'
sed 's/, layout: hf-gpt2//; s/from: hf/from: kept\/standard.safetensors/' hf.yaml >plain.yaml
expect 65 "$depthgrid" run plain.yaml --store other2 -q --set model.n_layers=3
says err 'missing: layers.2.attn.qkv.weight'
cp kept/standard.safetensors cut.safetensors && truncate -s -1 cut.safetensors
expect 65 "$depthgrid" run plain.yaml --store other3 -q --set model.init.from=cut.safetensors
says err 'is not a readable safetensors file'
expect 2 "$depthgrid" validate plain.yaml --set model.init.from=model.pt
says err 'never from pickles'

# GPT-2 written apart from the program, which gives what the package transformers has written, agrees.
reference="$sources/tests/golden/gpt2_reference.py"
"$sources/.venv/bin/python" "$reference" check "$sources/tests/golden/hf_gpt2" || fail "the reference is not transformers' GPT-2"
expect 0 "$depthgrid" eval results/first --cell "$id" --data short.txt --by-position --json
cp "$scratch/out" losses.json
python3 -c 'import json; print(json.dumps(list(open("short.txt", "rb").read())))' |
  "$sources/.venv/bin/python" "$reference" losses hf losses.json || fail "the reference computes other losses"

# A result that cannot be written is an error, and what is no file is not replaced by one.
mkfifo pipe
expect 73 "$depthgrid" export results/first --cell "$id" --out pipe
says err "pipe: not a regular file"
[ -p pipe ] || fail "the pipe is gone"
if [ -w /dev/full ]; then
  code=0
  "$depthgrid" eval results/first --cell "$id" --windows 8 >/dev/full 2>err || code=$?
  [ "$code" -eq 73 ] || fail "eval onto a full disk gives $code, not 73"
fi
echo "weights: ok"
