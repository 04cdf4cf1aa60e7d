#!/bin/sh
# A quarter of an hour on a machine with a GPU, from an unpacked bundle (scripts/bundle.sh --tests):
#   ./gpu_check.sh correct [--device cuda|cpu] [--out FOLDER] [--deadline SECONDS]
#   ./gpu_check.sh fast    [--device cuda|cpu] [--out FOLDER] [--deadline SECONDS]
# correct: is the GPU part loaded, do losses agree with those of the CPU, do kernels have the bits of the
# host, do runs repeat, resume and survive a lack of memory? 380 s at most.
# fast: what the card can do, milliseconds per cell-step, rivals from the same weights. 370 s at most.
# --device cpu rehearses either without a GPU, at small sizes; it names what was not run.
# Each row is printed, and appended to the files in the folder, as soon as it is known. docs/performance.md,
# "On a GPU", says what the rows mean. Exit code 1 if a row failed or was not reached, 78 if it cannot begin.
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "gpu_check: no $python here: name one (PYTHON=...)" >&2; exit 78; }
exec "$python" -B "$here/gpu_check/main.py" "$@"
