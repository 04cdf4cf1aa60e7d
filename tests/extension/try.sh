#!/usr/bin/env bash
# Adds one thing of every kind to a copy of the sources, exactly as in CONTRIBUTING.md, counts the
# files, builds the two programs there and runs what was added.
#   try.sh BUILD_FOLDER SOURCE_FOLDER [EXTENSION...]   (default: every folder here that has `rows`)
# The copy is BUILD_FOLDER/extension/src; it stays, so that a second run builds little.
build=$1
extensions=$(cd "$2/tests/extension" && pwd)
chosen=("${@:3}")
cache=${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ccache} # of all checkouts
set -- "$1" "$2"
source "$extensions/../e2e/common.sh" "$@"
if ((${#chosen[@]} == 0)); then
  for rows in "$extensions"/*/rows; do chosen+=("$(basename "$(dirname "$rows")")"); done
fi

copy=$build/extension/src
mkdir -p "$copy"
python3 "$extensions/apply.py" "$sources" "$copy" "${chosen[@]}" || fail "an extension cannot be added as CONTRIBUTING.md says"
[ -z "${COUNT_ONLY:-}" ] || exit 0
[ -e "$copy/.venv" ] || ln -s "$(readlink -f "$sources/.venv")" "$copy/.venv"

# The GPU part is not tested here.
CCACHE_DIR=$cache DEPTHGRID_CUDA=OFF "$copy/scripts/build.sh" release depthgrid depthgrid-worker >"$scratch/out" 2>"$scratch/err" ||
  fail "the copy does not build: see $copy/build/logs"
export OMP_NUM_THREADS=1
depthgrid=$copy/build/release/depthgrid
while read -r page words; do
  # shellcheck disable=SC2086  # a verb and its options
  "$depthgrid" $words >"$copy/$page" || fail "depthgrid $words"
done <"$build/extension/generated"

# train STORE FILE: a sweep file of the extension, in one process.
train() { expect 0 "$depthgrid" run "$(dirname "$run")/$2" --store "$1" -q; }
for name in "${chosen[@]}"; do
  run=$extensions/$name/run.sh
  # shellcheck disable=SC1090
  source "$run"
  echo "$name: added, built and run"
done
