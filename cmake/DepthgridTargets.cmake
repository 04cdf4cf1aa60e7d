# Options shared by every target of ours.
add_library(options INTERFACE)
add_library(depthgrid::options ALIAS options)
target_compile_options(options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>)
foreach(kind IN LISTS DEPTHGRID_SANITIZE)
  target_compile_options(options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${kind}>)
  target_link_options(options INTERFACE -fsanitize=${kind})
endforeach()

# depthgrid_library(<name> [EXCLUDE regex] LINK ... LINK_PRIVATE ...): the static library of a folder
# and its subfolders, except files that match EXCLUDE; each of its headers must compile alone.
function(depthgrid_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "LINK;LINK_PRIVATE")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(arg_EXCLUDE)
    list(FILTER headers EXCLUDE REGEX "${arg_EXCLUDE}")
    list(FILTER sources EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  add_library(${name} STATIC ${sources})
  add_library(depthgrid::${name} ALIAS ${name})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE ${arg_LINK_PRIVATE} depthgrid::options)
  set_target_properties(${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# depthgrid_test(<name> SOURCES ... LINK ... [RANKS 1 2 4] [LABELS ...] [TIMEOUT s])
# One program, with one ctest entry per source file (a process linked to LibTorch takes 0.3 s to start).
function(depthgrid_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINK;RANKS;LABELS")
  if(NOT arg_SOURCES)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} depthgrid::options GTest::gtest)
  if(arg_RANKS)
    foreach(n IN LISTS arg_RANKS)
      # A launcher that exits removes the folder shared by all launchers of a user, even while another starts.
      set(session ${CMAKE_CURRENT_BINARY_DIR}/${name}.np${n}.session)
      file(MAKE_DIRECTORY ${session})
      add_test(NAME ${name}.np${n}
               COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} --oversubscribe
                       --allow-run-as-root $<TARGET_FILE:${name}>)
      set_tests_properties(${name}.np${n} PROPERTIES PROCESSORS ${n} TIMEOUT ${arg_TIMEOUT}
        LABELS "mpi;${arg_LABELS}"
        ENVIRONMENT "DEPTHGRID_EXPECT_RANKS=${n};OMP_NUM_THREADS=1;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_orte_tmpdir_base=${session}")
    endforeach()
    return()
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  foreach(source IN LISTS arg_SOURCES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST|INSTANTIATE_TEST_SUITE_P)\\(")
    set(filters "")
    foreach(line IN LISTS lines)
      if(line MATCHES "^(TEST|TEST_F|TYPED_TEST)\\(([A-Za-z0-9_]+),")
        list(APPEND filters "${CMAKE_MATCH_2}.*")
      elseif(line MATCHES "^TEST_P\\(([A-Za-z0-9_]+),")
        list(APPEND filters "*/${CMAKE_MATCH_1}.*")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES filters)
    list(JOIN filters ":" filter)
    if(filter STREQUAL "")
      continue()  # shared helpers of the program
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE test)
    string(REGEX REPLACE "\\.cpp$" "" test "${test}")
    string(REPLACE / . test "${test}")
    add_test(NAME ${test} COMMAND ${name} --gtest_filter=${filter} --gtest_brief=1)
    set_tests_properties(${test} PROPERTIES LABELS "unit;${arg_LABELS}"
      TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "OMP_NUM_THREADS=1;OMP_WAIT_POLICY=PASSIVE"
      FAIL_REGULAR_EXPRESSION "No test matches;Running 0 tests")
  endforeach()
endfunction()
