#!/usr/bin/env bash
# Sets up, builds and runs the tests, as many at once as there are cores. The summary of the tests comes last, then
# the seconds of each part.
#   scripts/test.sh [CTEST ARGUMENTS]        the tests of every change: scripts/test.sh -R storage
#   scripts/test.sh --all [PART...]          the long ones, part by part (none named: every part, after those of
#                                            every change); build/logs/parts.tsv keeps date, commit and seconds
#   scripts/test.sh --all --list             the parts
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# PART | tests | what it is
readonly long_parts='
headers | ^lint\.headers$ | every header compiled by itself
sources | ^lint\.sources-alone$ | every source compiled by itself, without optimisation
fused | ^e2e\.fused_alone$ | fused cells against the same cells alone, at length
simulations | ^sweeps\.compare\.compare_simulation_all$ | 10,000 sweeps of known truth at three seeds: how often compare is wrong
audit | ^worker\.audit\.audit_families_all$ | every option of every family passes every check of the audit
extension | ^e2e\.extension_all$ | one thing of every kind added to a copy of the sources, built and run
kernels | ^models\.kernels_(avx2|base)$ | the models with kernels and LibTorch held to lower instruction sets
identity | ^e2e\.identity_all$ | every leaf outside the identity of cells, trained with two values
slurm | ^e2e\.slurm_(matrix|sweep)$ | a real Slurm: every event, and a whole sweep
readers | ^e2e\.readers_all$ | every HDF5 file with other builds of the netCDF library
chaos-kill | ^e2e\.chaos_kill_all$ | 1,000 kills at random instants
chaos-zombie | ^e2e\.chaos_zombie_all$ | 500 processes that wake after their lease has gone
chaos-disk | ^e2e\.chaos_disk_all$ | 100 levels of a full disk
chaos-isolation | ^e2e\.chaos_isolation_all$ | 100 cells of which 20 fail
chaos-detect | ^e2e\.chaos_detect_all$ | how soon each kind of fault is noticed
chaos-preempt | ^e2e\.chaos_preempt_all$ | a run, a supervisor and a team, preempted 40 times each
'
rows() { sed -n 's/^\([a-z-]*\) | \([^ ]*\) | \(.*\)/\1\t\2\t\3/p' <<<"$long_parts"; }
# shellcheck disable=SC2329,SC2317  # parts call them
check_format() {
  [[ -x $venv/bin/clang-format ]] || return 0
  step format "checking the format of the sources" \
    "a file is not formatted: scripts/format.sh mends it" \
    cmake -DROOT="$root" -DCLANG_FORMAT="$venv/bin/clang-format" -P cmake/check_format.cmake
}
# shellcheck disable=SC2329,SC2317
run_tests() {  # run_tests PRESET [CTEST ARGUMENTS]
  mpi_environment
  say "== running the tests, $(cores) at once (set-up and build took $(elapsed "$script_start"))"
  PATH=$venv/bin:$PATH ctest --preset "$1" -j $((2 * $(cores) + 1)) "${@:2}"  # tests/CMakeLists.txt
}
run_long_part() {  # run_long_part NAME: one row of the table, recorded
  local name tests what start outcome=passed
  IFS=$'\t' read -r name tests what < <(rows | grep "^$1"$'\t')
  say "== $name: $what"
  start=$(now)
  part "$name" run_tests all -R "$tests" || outcome=failed
  printf '%s\t%s\t%s\t%.0f\t%s\n' "$name" "$(date -u +%F)" "$(git describe --always --dirty --abbrev=8)" \
    "$(awk -v a="$start" -v b="$(now)" 'BEGIN { print b - a }')" "$outcome" | tee -a "$logs/parts.tsv"
  [[ $outcome == passed ]] || code=1
}

code=0
chosen=()
if [[ ${1:-} == --all ]]; then
  shift
  if [[ ${1:-} == --list ]]; then
    rows | column -t -s $'\t'
    exit
  fi
  for name in "$@"; do
    if ! rows | cut -f 1 | grep -qx -- "$name"; then
      say "scripts/test.sh: there is no part '$name'; the parts: $(rows | cut -f 1 | paste -sd ' ')" >&2
      exit 64
    fi
  done
  chosen=("$@")
  ((${#chosen[@]})) || mapfile -t chosen < <(echo every-change && rows | cut -f 1)
  set --
else
  chosen=(every-change)
fi
part set-up scripts/setup.sh
part format check_format
part build scripts/build.sh release all
for name in "${chosen[@]}"; do
  if [[ $name == every-change ]]; then
    part tests run_tests release "$@" || code=$?
  else
    run_long_part "$name"
  fi
done
print_parts
exit "$code"
