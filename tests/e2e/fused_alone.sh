#!/usr/bin/env bash
# Eight cells of different rate, decay, Δt and seed, fused and alone, at one and two threads: the same
# bits, for the families and mixers, small (d = 64, 100 steps) and at the first study's size (d = 256, 20
# steps).
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
cat >eight.yaml <<'Y'
name: eight
method: list
seeds: 2
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 256, tokens: 100000}}
train: {optimizer: adamw}
eval: {every: null, at_start: false, splits: [valid], windows: 8, final_splits: [valid], final_windows: 8}
include:
  - {train.lr: 1e-3, train.weight_decay: 0.0, model.residual.scale: 1, tag: a}
  - {train.lr: 3e-3, train.weight_decay: 0.1, model.residual.scale: 0.5, tag: b}
  - {train.lr: 3e-4, train.weight_decay: 0.01, model.residual.scale: 1/L, tag: c}
  - {train.lr: 1e-4, train.weight_decay: 0.3, model.residual.scale: 1, tag: d}
Y
sweep=$scratch/eight.yaml
small=(--set model.d_model=64 --set data.seq_len=64 --set train.steps=100)
study=(--set train.steps=20)
declare -A variants=(
  [standard]="model.family=standard"
  [time_indexed]="model.family=time_indexed"
  [ssm]="model.family=time_indexed model.mixer=ssm"
  [dense_ssm]="model.family=time_indexed model.mixer=ssm model.ssm.A=dense"
)
for variant in standard time_indexed ssm dense_ssm; do
  for size in small study; do
    declare -n sizes=$size
    options=("${sizes[@]}")
    for leaf in ${variants[$variant]}; do options+=(--set "$leaf"); done
    train alone --set packing.fuse=off
    train fused --set packing.fuse=8
    train threads --set packing.fuse=8 --set resources.threads=2
    fused alone 1
    fused fused 8
    fused threads 8
    same alone fused
    same alone threads
    echo "$variant, $size: 8 cells fused have the bits of 8 cells alone, at 1 and 2 threads"
    rm -rf alone fused threads
  done
done

# In bf16 too, on one thread.
for family in standard time_indexed; do
  options=(--set model.family=$family "${small[@]}" --set train.precision=bf16)
  train alone --set packing.fuse=off
  train fused --set packing.fuse=8
  fused fused 8
  same alone fused
  echo "$family, small, bf16: 8 cells fused have the bits of 8 cells alone"
  rm -rf alone fused
done
