#!/usr/bin/env bash
# Configures and builds a preset: scripts/build.sh [PRESET=release] [TARGET...]
#   DEPTHGRID_JOBS=N                 compilers at once (default: by cores and memory)
#   DEPTHGRID_CUDA=AUTO|ON|OFF       the GPU part
#   CMAKE_PREFIX_PATH=D              a LibTorch 2.11 of your own
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
preset=${1:-release}
targets=("${@:2}")

for tool in cmake ninja g++; do
  command -v "$tool" >/dev/null || {
    say "FAILED: $tool is not on this machine: run scripts/setup.sh and see the packages that it lists" >&2
    exit 1
  }
done
# The compiler needs up to 1.5 GB for a file that includes LibTorch.
memory_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo 2>/dev/null || echo 4000000)
jobs=$((memory_kb / 1500000))
((jobs >= 1)) || jobs=1
((jobs <= $(cores))) || jobs=$(cores)
jobs=${DEPTHGRID_JOBS:-$jobs}

# One compiler cache for all checkouts: paths are made relative to the checkout. What is precompiled is compared
# by its content; its own macros and times are of no concern.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ccache}
options=(-DDEPTHGRID_CUDA="${DEPTHGRID_CUDA:-AUTO}")
if [[ ${DEPTHGRID_CUDA:-AUTO} != OFF ]] && home=$(find_cuda); then
  options+=(-DDEPTHGRID_CUDA_HOME="$home")
fi
step "configure-$preset" "configuring build/$preset" \
  "a development package is missing: run scripts/setup.sh" cmake --preset "$preset" "${options[@]}"
step "build-$preset" "building build/$preset${targets[*]:+ (${targets[*]})} with $jobs compilers at once" \
  "an error in the sources: see the first 'error:' in the log" \
  cmake --build --preset "$preset" -j "$jobs" ${targets[@]:+--target "${targets[@]}"}
