#!/usr/bin/env bash
# An interactive allocation in which a supervisor trains a sweep: you see what it does, and Ctrl-C stops it with
# checkpoints. The same line continues.
#   interactive.sh FILE [OPTION_OF_SUPERVISE…] [-- OPTION_OF_SALLOC…]
#   interactive.sh configs/quickstart.yaml --store results/q -- -p gpu --gres=gpu:4 -c 32 -t 60
# The supervisor runs as a step on the allocation's first node, so that it counts that node's cards and cores; launches on
# other nodes are steps of their own. DEPTHGRID is the program (default: the build of this checkout, or that of PATH).
set -euo pipefail
if [ $# -eq 0 ] || [ "$1" = --help ]; then
  sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
train=() allocate=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  train+=("$1")
  shift
done
if [ $# -gt 0 ]; then
  shift
  allocate=("$@")
fi
program=${DEPTHGRID:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/release/depthgrid}
[ -x "$program" ] || program=$(command -v depthgrid) || {
  echo "interactive.sh: no depthgrid: build it, or name it in DEPTHGRID" >&2
  exit 2
}
# --overlap: its launches may use what this step has. -N1 -n1: one supervisor.
exec salloc "${allocate[@]}" srun --overlap -N1 -n1 --mpi=none "$program" supervise "${train[@]}"
