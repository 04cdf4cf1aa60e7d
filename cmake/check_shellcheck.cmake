cmake_minimum_required(VERSION 3.25)
# Fails for a script of scripts/, or a batch script as `depthgrid submit` writes it, at which shellcheck finds fault.
# Run: cmake -DROOT=. -DSCRATCH=FOLDER -P cmake/check_shellcheck.cmake
find_program(SHELLCHECK shellcheck HINTS "${ROOT}/.venv/bin")  # of requirements-dev.txt
if(NOT SHELLCHECK)
  message(NOTICE "skipped: shellcheck is not installed (requirements-dev.txt has it)")
  return()
endif()
function(check expected what)
  execute_process(COMMAND "${SHELLCHECK}" -x -P SCRIPTDIR -s bash ${ARGN} WORKING_DIRECTORY "${ROOT}"
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL expected)
    message(SEND_ERROR "shellcheck ends with ${code}, not ${expected}, for ${what}: ${out}")
  endif()
endfunction()

file(GLOB scripts RELATIVE "${ROOT}" "${ROOT}/scripts/*.sh" "${ROOT}/scripts/*/*.sh" "${ROOT}/.ci/run")
check(0 "the scripts" ${scripts})

# The golden text of tests/sweeps/slurm/batch_script_test.cpp, which the program writes to the letter.
file(READ "${ROOT}/tests/sweeps/slurm/batch_script_test.cpp" text)
string(FIND "${text}" "R\"(#!/bin/bash" begin)
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" ")\"" end)
math(EXPR length "${end} - 3")
if(begin LESS 0 OR length LESS 500)
  message(FATAL_ERROR "the golden batch script is not found")
endif()
string(SUBSTRING "${text}" 3 ${length} text)
file(WRITE "${SCRATCH}/array-0.sbatch" "${text}")
check(0 "a batch script" "${SCRATCH}/array-0.sbatch")
file(WRITE "${SCRATCH}/bad.sbatch" "${text}\nrm $1/x\n")
check(1 "one with an unquoted word, which it must see" "${SCRATCH}/bad.sbatch")
