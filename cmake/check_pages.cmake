cmake_minimum_required(VERSION 3.25)
# Fails for a line of prose of the pages that people read that is wider than 100 columns. Not prose:
# tables, blocks of code, HTML, definitions of links, and a line that has no blank to be broken at.
# Run: cmake -DROOT=. -P cmake/check_pages.cmake
set(widest 100)  # characters
set(pages README.md CONTRIBUTING.md docs/architecture.md docs/cli.md docs/orchestration.md docs/reliability.md)

get_filename_component(ROOT "${ROOT}" ABSOLUTE)
string(ASCII 128 low)
string(ASCII 191 high)
include(${CMAKE_CURRENT_LIST_DIR}/blame.cmake)
foreach(page IN LISTS pages)
  if(NOT EXISTS "${ROOT}/${page}")
    if(EXISTS "${ROOT}/CMakeLists.txt")  # a whole checkout
      blame("${page} is not there: cmake/check_pages.cmake names it")
    endif()
    continue()
  endif()
  file(READ "${ROOT}/${page}" text)
  string(REGEX REPLACE "[${low}-${high}]" "" text "${text}")  # one byte of each character is left
  string(REGEX REPLACE "[][;\\]" "." text "${text}")          # which would break a list of lines
  string(REPLACE "\n" ";" lines "${text}")
  set(number 0)
  set(code FALSE)
  foreach(line IN LISTS lines)
    math(EXPR number "${number}+1")
    if(line MATCHES "^ *```")
      if(code)
        set(code FALSE)
      else()
        set(code TRUE)
      endif()
    endif()
    string(LENGTH "${line}" width)
    if(code OR NOT width GREATER widest OR line MATCHES "^ *(```|<|[|].*[|]$|[.][^.]+[.]: |[^ ]+$)")
      continue()
    endif()
    blame("${page}:${number}: ${width} columns of prose; at most ${widest}")
  endforeach()
endforeach()
message(STATUS "pages: ${bad} violations")
