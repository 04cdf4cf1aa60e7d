#!/usr/bin/env bash
# Formats every source file in place.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
step format "formatting the sources" "clang-format is missing: run scripts/setup.sh" \
  cmake -DROOT="$root" -DCLANG_FORMAT="$venv/bin/clang-format" -DFIX=ON -P cmake/check_format.cmake
