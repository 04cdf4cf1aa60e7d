cmake_minimum_required(VERSION 3.25)
# Fails if a source calls the system itself where its room goes by an interface, so that a test can stand in for the
# machine. A call that has to stay is an exception with a reason; one that is not needed any more fails as well.
# Run: cmake -DROOT=. -P cmake/check_seams.cmake
get_filename_component(ROOT "${ROOT}" ABSOLUTE)
set(bad 0)
function(blame text)
  message(SEND_ERROR "${text}")
  math(EXPR bad "${bad}+1")
  set(bad ${bad} PARENT_SCOPE)
endfunction()

# seam(<name> <what stands between> ROOMS <room>... [HEADERS <header>...] [NAMES <regex>...] [CALLS <regex>...]):
# headers that sources of these rooms do not include, names that they do not use, functions that they do not call.
set(seams "")
macro(seam name by)
  cmake_parse_arguments(of_${name} "" "" "ROOMS;HEADERS;NAMES;CALLS" ${ARGN})
  set(of_${name}_by "${by}")
  list(APPEND seams ${name})
endmacro()
# except(<seam> <path, or folder with a / at its end> <reason>)
macro(except name path reason)
  list(APPEND exceptions_${name} "${path}")
endmacro()

set(free_functions exists is_[a-z_]+ create_[a-z_]+ remove remove_all rename copy copy_[a-z]+ file_size
    last_write_time canonical weakly_canonical absolute read_symlink status symlink_status space permissions
    resize_file equivalent hard_link_count current_path temp_directory_path directory_entry directory_iterator
    recursive_directory_iterator)
list(JOIN free_functions "|" free_functions)
seam(files "Fs (core/base/fs.hpp; of a store: Store::fs())" ROOMS storage sweeps
     HEADERS fcntl.h sys/stat.h sys/statvfs.h sys/vfs.h sys/file.h sys/mman.h dirent.h fstream
     NAMES "(fs|filesystem)::(${free_functions})" "std::[io]?fstream"
     CALLS "::(open|read|write|close|rename|link|remove|stat|access|chmod)" openat fsync fdatasync renameat2? linkat
           unlink unlinkat mkdir rmdir fstat lstat fstatat statvfs statfs ftruncate pread pwrite opendir readdir
           umask fchmod faccessat mkdtemp mkstemp memfd_create fopen)
except(files storage/files/process_identity.cpp "asks /proc about processes")
except(files sweeps/doctor/ "measures this machine, and what a file system does")
except(files sweeps/launch/failure_class.cpp "asks the kernel for the kills of this control group")
except(files sweeps/orders/pipe_child.cpp "a file in memory is how a child gets its input")
except(files sweeps/page/page_data.cpp "resolves the name of a folder, for a title")

# Without texts and comments; brackets and semicolons would be read as lists.
function(read_code variable path)
  file(READ "${path}" text)
  string(REGEX REPLACE "\"([^\"\\\\\n]|\\\\.)*\"" "\"\"" text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[][;]" " " text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

foreach(name IN LISTS seams)
  list(JOIN of_${name}_HEADERS "|" headers)
  list(JOIN of_${name}_NAMES "|" names)
  list(JOIN of_${name}_CALLS "|" calls)
  string(REPLACE "." "\\." headers "${headers}")
  set(direct "(^|\n)#include <(${headers})>")
  if(names)
    string(APPEND direct "|[^A-Za-z0-9_](${names})[^A-Za-z0-9_]")
  endif()
  if(calls)
    string(APPEND direct "|(^|[^A-Za-z0-9_.>:])(${calls}) *\\(")
  endif()
  foreach(room IN LISTS of_${name}_ROOMS)
    file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${room}/*.hpp" "${ROOT}/${room}/*.cpp")
    foreach(path IN LISTS files)
      read_code(code "${ROOT}/${path}")
      string(REGEX MATCH "${direct}" found "${code}")
      set(excepted FALSE)
      foreach(exception IN LISTS exceptions_${name})
        string(LENGTH "${exception}" length)
        string(SUBSTRING "${path}" 0 ${length} start)
        if(path STREQUAL exception OR (exception MATCHES "/$" AND start STREQUAL exception))
          set(excepted TRUE)
        endif()
      endforeach()
      if(excepted AND found STREQUAL "" AND path IN_LIST exceptions_${name})
        blame("${path}: needs no exception of the seam '${name}' any more: take it off the list")
      elseif(NOT excepted AND NOT found STREQUAL "")
        string(FIND "${code}" "${found}" at)
        string(SUBSTRING "${code}" 0 ${at} before)
        string(REGEX REPLACE "[^\n]" "" before "${before}\n")
        string(LENGTH "${before}" line)
        if(found MATCHES "^\n")
          math(EXPR line "${line}+1")
        endif()
        string(REGEX REPLACE "^[^A-Za-z_:#]+" "" found "${found}")
        blame("${path}:${line}: '${found}' calls the system itself: go by ${of_${name}_by}")
      endif()
    endforeach()
  endforeach()
endforeach()
message(STATUS "seams: ${bad} violations")
