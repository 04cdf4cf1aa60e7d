# What a compiler does not see: layers, lengths, format, widths of pages, headers that stand alone, scripts.
function(depthgrid_lint name)  # depthgrid_lint(<name> [variable=value]...): cmake/check_<name>.cmake
  list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE definitions)
  string(REPLACE - _ script ${name})
  add_test(NAME lint.${name} COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
           -DSCRATCH=${PROJECT_BINARY_DIR}/lint/${name} ${definitions}
           -P ${PROJECT_SOURCE_DIR}/cmake/check_${script}.cmake)
  set_tests_properties(lint.${name} PROPERTIES LABELS lint TIMEOUT 120)
endfunction()
depthgrid_lint(layering)
depthgrid_lint(seams)
depthgrid_lint(sources)
depthgrid_lint(selftest)
depthgrid_lint(pages)
depthgrid_lint(scripts)
depthgrid_lint(shellcheck)
set_tests_properties(lint.shellcheck PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
depthgrid_lint(without-nvcc "PREFIX_PATH=${CMAKE_PREFIX_PATH}")
depthgrid_lint(sources-alone "PREFIX_PATH=${CMAKE_PREFIX_PATH}")
set_tests_properties(lint.sources-alone PROPERTIES LABELS "lint;slow" TIMEOUT 3600 RUN_SERIAL ON)
if(TARGET depthgrid_cuda)
  depthgrid_lint(kernels NVCC=${CMAKE_CUDA_COMPILER} FLAGS=${DEPTHGRID_KERNEL_FLAGS})
endif()
set(DEPTHGRID_CLANG_FORMAT ${PROJECT_SOURCE_DIR}/.venv/bin/clang-format)
if(EXISTS ${DEPTHGRID_CLANG_FORMAT})  # requirements-dev.txt is optional for those who only run
  depthgrid_lint(format CLANG_FORMAT=${DEPTHGRID_CLANG_FORMAT})
endif()

# The planted faults still apply, and each test has its row in the table of docs/testing.md.
add_test(NAME lint.mutants COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -B
         ${PROJECT_SOURCE_DIR}/tests/mutants/run.py --text --build ${PROJECT_BINARY_DIR})
set_tests_properties(lint.mutants PROPERTIES LABELS lint TIMEOUT 120)

# The tables of docs/findings.md are what `compare` says of docs/findings/*.csv.
add_test(NAME lint.findings COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -B
         ${PROJECT_SOURCE_DIR}/scripts/findings.py --build ${PROJECT_BINARY_DIR} check)
set_tests_properties(lint.findings PROPERTIES LABELS lint TIMEOUT 120)

# Every public header compiles alone. Ninja keeps one log a folder, so nothing else builds meanwhile.
add_test(NAME lint.headers COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
         --target all_verify_interface_header_sets)
set_tests_properties(lint.headers PROPERTIES LABELS "lint;slow" TIMEOUT 3600 RUN_SERIAL ON)
