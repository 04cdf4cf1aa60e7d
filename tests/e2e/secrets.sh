#!/usr/bin/env bash
# No secret of the environment gets into a store: fifty variables, then a search through every file.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
options=(--set train.steps=5)
canary=canary-7d1f0c
count=0
for prefix in SLURM NCCL CUDA OMP MKL OMPI_MCA DEPTHGRID AWS GITHUB HF; do
  for name in API_KEY access_token SECRET_NAME JWT DB_PASSWORD; do
    export "${prefix}_$name=$canary"
    count=$((count + 1))
  done
done
[ "$count" = 50 ] || fail "there are $count canaries"
export DEPTHGRID_PROXY="https://user:$canary@proxy/" OMP_BYTES=$'\xff\xfe'
train kept
if grep -rlaF "$canary" kept; then fail "a secret is in the store"; fi
expect 0 h5dump -d /attempt_environment kept/sweep.h5
says out 'https://proxy/'
