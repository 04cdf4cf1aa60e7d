# Sourced by the scripts beside it: script.sh BUILD_FOLDER SOURCE_FOLDER.
# Leaves $depthgrid (the program), $sources, $corpora and an empty folder $scratch, which is also the working
# directory and goes away at the end.
set -euo pipefail
build=$(cd "$1" && pwd)
sources=$(cd "$2" && pwd)
depthgrid=$build/depthgrid
scratch=$(mktemp -d "${TMPDIR:-/tmp}/depthgrid-e2e.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export XDG_CACHE_HOME=$scratch/cache
corpora=${DEPTHGRID_DATA:-}  # for tests that use them when present; the programs do not see them
unset DEPTHGRID_DATA
# A launcher that ends removes the folder that all launchers of a user share, under one that starts.
export OMPI_MCA_orte_tmpdir_base=$scratch

fail() {
  echo "FAILED: $*" >&2
  for stream in out err; do
    if [ -s "$scratch/$stream" ]; then
      echo "--- std$stream of the last command" >&2
      head -c 4000 "$scratch/$stream" >&2
    fi
  done
  exit 1
}

# expect CODE COMMAND...: runs it, keeps its streams in $scratch/out and $scratch/err.
expect() {
  local wanted=$1 code=0
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
  [ "$code" -eq "$wanted" ] || fail "$* returned $code, not $wanted"
}

# says STREAM TEXT: the stream (out or err) of the last command holds the text.
says() { grep -qF -- "$2" "$scratch/$1" || fail "std$1 lacks: $2"; }

# silent STREAM: the stream of the last command is empty.
silent() { [ ! -s "$scratch/$1" ] || fail "std$1 should be empty"; }

# check EXPRESSION: a Python expression over `j`, the JSON that the last command printed.
check() {
  python3 - "$scratch/out" "$1" <<'PY' || fail "not so: $1"
import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)
PY
}

# alone: a copy of depthgrid without its worker, at $scratch/alone/depthgrid.
alone() {
  mkdir -p "$scratch/alone"
  cp "$depthgrid" "$scratch/alone/depthgrid"
}
