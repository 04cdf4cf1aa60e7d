cmake_minimum_required(VERSION 3.25)
# Fails for a shell script that does not parse or cannot be started, and tests the step runner.
# Run: cmake -DROOT=. -DSCRATCH=FOLDER -P cmake/check_scripts.cmake
include(${CMAKE_CURRENT_LIST_DIR}/source_files.cmake)
source_files(scripts sh)
foreach(path IN LISTS scripts ITEMS .ci/run)
  execute_process(COMMAND bash -n "${ROOT}/${path}" RESULT_VARIABLE code ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(SEND_ERROR "${path}: ${out}")
  endif()
  execute_process(COMMAND test -x "${ROOT}/${path}" RESULT_VARIABLE code)
  if(NOT code EQUAL 0 AND path MATCHES "^(scripts|\\.ci)/" AND NOT path STREQUAL "scripts/lib.sh")
    message(SEND_ERROR "${path}: not executable")
  endif()
endforeach()

# The step runner, in a copy of lib.sh so that its logs go to the scratch folder.
file(REMOVE_RECURSE "${SCRATCH}")
file(COPY "${ROOT}/scripts/lib.sh" DESTINATION "${SCRATCH}/scripts")
function(try_step words expected_code expected_text)
  execute_process(COMMAND bash -c "source scripts/lib.sh; ${words}" WORKING_DIRECTORY "${SCRATCH}"
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL expected_code OR NOT out MATCHES "${expected_text}")
    message(SEND_ERROR "step: '${words}' ended in ${code}, not ${expected_code}, or did not say '${expected_text}': ${out}")
  endif()
endfunction()
try_step("step one 'doing one thing' 'none' true" 0 "== doing one thing .*done in [0-9.]+ s")
try_step("step two 'doing two' 'the moon' bash -c 'exit 3'" 3
         "exit code 3.*command: +bash -c exit 3.*log: .*build/logs/two.log.*likely cause: the moon")
try_step("step two 'doing two' 'the moon' bash -c 'echo No space left on device; exit 1'" 1 "the disk is full")
try_step("f() { false; echo on; }; step two 'doing two' 'x' f" 1 "exit code 1")
try_step("MAY_FAIL=1; step two 'doing two' 'x' false; echo went on after $step_status" 0 "went on after 1")
file(REMOVE_RECURSE "${SCRATCH}")
