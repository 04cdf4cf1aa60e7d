cmake_minimum_required(VERSION 3.25)
# Fails for files that are too long, for headers that are too slow to compile, and for paths of a
# particular machine. Run: cmake -DROOT=. -P cmake/check_sources.cmake
include(${CMAKE_CURRENT_LIST_DIR}/source_files.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/blame.cmake)

set(longest 500)  # lines; aim at 100 to 300 for a pair
source_files(code hpp cpp inc cu cuh cmake sh py)
foreach(path IN LISTS code)
  file(READ "${ROOT}/${path}" text)
  string(REGEX REPLACE "[^\n]" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  if(lines GREATER longest)
    blame("${path}: ${lines} lines; more than ${longest} are two files")
  endif()
  if(path MATCHES "\\.hpp$" AND NOT text MATCHES "(^|\n)#pragma once\n")
    blame("${path}: no '#pragma once'")
  endif()
  if(path MATCHES "\\.[hc]pp$" AND text MATCHES "(^|\n)#include <torch/torch\\.h>")
    blame("${path}: torch/torch.h costs 12 s a file: include <ATen/core/Tensor.h> and <ATen/ops/NAME.h>")
  endif()
  if(path MATCHES "^models/" AND NOT path STREQUAL "models/ops/host_kernels.cpp" AND text MATCHES "device\\(\\)\\.is_cpu\\(\\)")
    blame("${path}: asks where a tensor is: host_kernels_serve() does, and tests can turn it off")
  endif()
  if(path MATCHES "\\.cuh?$" AND text MATCHES "(^|\n)#include <((ATen|c10|torch)/[^>]*)>")
    blame("${path}: ${CMAKE_MATCH_2}: kernels take pointers, sizes and a stream; a .cpp beside them unwraps tensors")
  endif()
endforeach()

# One flat namespace: a type must have one definition, or two layers linked into one program silently violate
# the one-definition rule. Anonymous namespaces are exempt; types at namespace scope begin at column 0
# (clang-format).
source_files(units hpp cpp cu cuh)
foreach(path IN LISTS units)
  file(STRINGS "${ROOT}/${path}" lines
       REGEX "^(namespace ([a-z0-9_]+_test )?{|}  // namespace( [a-z0-9_]+_test)?$|using [A-Za-z0-9_]+ =|(struct|class|union|enum|enum class) [^;]*({|$))")
  set(own FALSE)
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace")
      set(own TRUE)
    elseif(line MATCHES "^}  // namespace")
      set(own FALSE)
    elseif(NOT own AND line MATCHES
           "^(struct|class|union|enum|enum class|using) (\\[\\[[a-z]+\\]\\] )?([A-Za-z0-9_]+)( final)?( =| :| {|$)")
      set(type "${CMAKE_MATCH_3}")
      if(DEFINED type_${type})
        blame("${path}: type '${type}' is also that of ${type_${type}}: rename one, or use an anonymous namespace")
      endif()
      set(type_${type} "${path}")
    endif()
  endforeach()
endforeach()

# Only .ci/run may name the place of corpora beside a checkout; no file may refer to a developer's machine.
source_files(texts hpp cpp inc cu cuh cmake sh py md yaml txt json)
foreach(path IN LISTS texts)
  file(STRINGS "${ROOT}/${path}" found REGEX "\\.\\./shar[e]d|/wor[k]/|/tmp/d[g]/|(^|[^.a-z])/roo[t]/")
  foreach(line IN LISTS found)
    blame("${path}: names a place on one machine: ${line}")
  endforeach()
endforeach()
message(STATUS "sources: ${bad} violations")
