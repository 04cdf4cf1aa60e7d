#!/usr/bin/env bash
# Sets up, builds and runs every test, as many at once as there are cores; --all adds the slow ones and compiles
# every header by itself. The summary of the tests comes last, then the seconds of each part.
# Further arguments go to ctest: scripts/test.sh -R storage
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
preset=release
targets=(all)
if [[ ${1:-} == --all ]]; then
  preset=all
  targets+=(all_verify_interface_header_sets)
  shift
fi
# shellcheck disable=SC2329,SC2317  # parts call them
check_format() {
  [[ -x $venv/bin/clang-format ]] || return 0
  step format "checking the format of the sources" \
    "a file is not formatted: scripts/format.sh mends it" \
    cmake -DROOT="$root" -DCLANG_FORMAT="$venv/bin/clang-format" -P cmake/check_format.cmake
}
# shellcheck disable=SC2329,SC2317
run_tests() {
  mpi_environment
  say "== running the tests, $(cores) at once (set-up and build took $(elapsed "$script_start"))"
  PATH=$venv/bin:$PATH ctest --preset "$preset" -j "$(cores)" "$@"
}
part set-up scripts/setup.sh
part format check_format
part build scripts/build.sh release "${targets[@]}"
code=0
part tests run_tests "$@" || code=$?
print_parts
exit "$code"
