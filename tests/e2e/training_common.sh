# Sourced by the training scripts: small sweeps on synthetic data, and how to compare their stores.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$@"
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
# Two launchers side by side bind their ranks to the same cores, where they spin against each other.
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
sweep=$sources/configs/tiny.yaml
options=(--set train.steps=60 --set checkpoint.every=5)

# begun STORE: waits for a checkpoint in it.
begun() {
  for _ in $(seq 1200); do
    [ -n "$(find "$1" -name 'ckpt-*.h5' 2>/dev/null)" ] && return
    sleep 0.05
  done
  fail "no checkpoint in $1"
}

# ends CODE PID WHAT
ends() {
  local code=0
  wait "$2" 2>/dev/null || code=$?
  [ "$code" = "$1" ] || fail "$3: exit code $code, not $1"
}

# train STORE [OPTION...]: one process.
train() {
  local store=$1
  shift
  expect 0 "$depthgrid" run "$sweep" "${options[@]}" "$@" --store "$store" -q
}

# without_audit: sets `unaudited` to options that turn off every check of the audit.
without_audit() {
  local check
  unaudited=()
  for check in $("$depthgrid" schema --markdown | sed -n 's/^| `\(audit\.[a-z_]*\)`.*/\1/p'); do
    unaudited+=(--set "$check=off")
  done
  [ "${#unaudited[@]}" -gt 20 ] || fail "the leaves of the audit are not found"
}

# ranks N STORE [OPTION...]: under mpirun.
ranks() {
  local n=$1 store=$2
  shift 2
  expect 0 mpirun -np "$n" "$depthgrid" run "$sweep" "${options[@]}" "$@" --store "$store" -q
}

# same A B: every recorded loss and the final weights of two stores have the same bits.
same() {
  local variable
  for variable in train_loss train_grad_norm train_update_norm eval_loss final_loss weights_sha256; do
    h5diff -q "$1/sweep.h5" "$2/sweep.h5" "/$variable" "/$variable" || fail "$variable of $1 and $2 differ"
  done
}

# fused STORE E: every job of a store trained E cells.
fused() {
  "$sources/.venv/bin/python" - "$@" <<'PY' || fail "the jobs of $1 are not of $2 cells each"
import sys
from collections import Counter
import h5py

jobs = Counter(h5py.File(f"{sys.argv[1]}/sweep.h5")["attempt_job"][()].tolist())
print(f"{sys.argv[1]}: jobs of", *jobs.values())
sys.exit(0 if jobs and set(jobs.values()) == {int(sys.argv[2])} else 1)
PY
}

# near A B TOLERANCE: losses agree to a relative difference, cell by cell (the ids may differ).
near() {
  "$sources/.venv/bin/python" - "$@" <<'PY' || fail "losses of $1 and $2 differ by more than $3"
import sys
import h5py
import numpy as np

a, b = (h5py.File(f"{store}/sweep.h5") for store in sys.argv[1:3])
worst = max(np.nanmax(np.abs(a[v][()] - b[v][()]) / np.abs(a[v][()])) for v in ("train_loss", "final_loss"))
print(f"{sys.argv[1]} and {sys.argv[2]}: largest relative difference of a loss {worst:.1e}")
sys.exit(0 if worst <= float(sys.argv[3]) else 1)
PY
}

# can_be_planned STUDY OPTIONS...: every file of configs/STUDY, with two seeds of each cell and of one baseline
can_be_planned() {
  local study=$1 file
  shift
  for file in "$sources/configs/$study"/*.yaml; do
    expect 0 "$depthgrid" validate "$file" "$@"
    says out "$file: "
    expect 0 "$depthgrid" plan "$file" "$@" --json
    check 'len(j["cells"]) > 0 and len(j["cells"]) == 2 * len({c["alias"].rsplit(",", 1)[0] for c in j["cells"]})'
    check 'sum(c["baseline"] for c in j["cells"]) == 2'
    check 'all(s["parameters"] > 0 for s in j["structures"])'
  done
}
