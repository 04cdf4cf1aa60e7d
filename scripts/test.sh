#!/usr/bin/env bash
# Sets up, builds and runs every test; --all adds the slow ones and compiles every header by itself. The test
# summary comes last.
# Further arguments go to ctest: scripts/test.sh -R storage
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
preset=release
targets=(all)
if [[ ${1:-} == --all ]]; then
  preset=all
  targets+=(all_verify_interface_header_sets)
  shift
fi
scripts/setup.sh
if [[ -x $venv/bin/clang-format ]]; then
  step format "checking the format of the sources" \
    "a file is not formatted: scripts/format.sh mends it" \
    cmake -DROOT="$root" -DCLANG_FORMAT="$venv/bin/clang-format" -P cmake/check_format.cmake
fi
scripts/build.sh release "${targets[@]}"
mpi_environment
say "== running the tests (set-up and build took $(elapsed "$script_start"))"
export PATH=$venv/bin:$PATH
exec ctest --preset "$preset" -j "$(nproc)" "$@"
