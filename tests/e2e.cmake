# The programs from outside: tests/e2e/<name>.sh BUILD_FOLDER SOURCE_FOLDER.
function(depthgrid_e2e name timeout)
  add_test(NAME e2e.${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/e2e/${name}.sh
           ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(e2e.${name} PROPERTIES LABELS e2e TIMEOUT ${timeout})
endfunction()
depthgrid_e2e(program 60)
depthgrid_e2e(validate 60)
depthgrid_e2e(broken_files 60)
depthgrid_e2e(plan 120)
depthgrid_e2e(before_a_run 60)
depthgrid_e2e(hand_over 60)
