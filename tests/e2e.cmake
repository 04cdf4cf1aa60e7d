# The programs from outside: tests/e2e/<name>.sh BUILD_FOLDER SOURCE_FOLDER.
# depthgrid_e2e(<name> <timeout in s> [label...])
function(depthgrid_e2e name timeout)
  add_test(NAME e2e.${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/e2e/${name}.sh
           ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(e2e.${name} PROPERTIES LABELS "e2e;${ARGN}" TIMEOUT ${timeout})
endfunction()
depthgrid_e2e(program 900)
depthgrid_e2e(validate 900)
depthgrid_e2e(completion 900)
depthgrid_e2e(broken_files 900)
depthgrid_e2e(plan 900)
depthgrid_e2e(simulate 900)
depthgrid_e2e(doctor 900)
depthgrid_e2e(study1 1200)
depthgrid_e2e(study2 1200)
depthgrid_e2e(audit 1200)
depthgrid_e2e(before_a_run 900)
depthgrid_e2e(hand_over 900)
depthgrid_e2e(fetch_data_test 900)
depthgrid_e2e(training 1200)
depthgrid_e2e(resume 1200)
depthgrid_e2e(attempts 900)
depthgrid_e2e(damage 900)
depthgrid_e2e(grow 1200)
depthgrid_e2e(old_stores 900)
depthgrid_e2e(teams 1200)
depthgrid_e2e(display 1200)
set_tests_properties(e2e.display PROPERTIES SKIP_RETURN_CODE 77)  # no tmux
depthgrid_e2e(other_user 1200)
set_tests_properties(e2e.other_user PROPERTIES SKIP_RETURN_CODE 77)  # no root
depthgrid_e2e(records 1200)
depthgrid_e2e(own_text 900)
depthgrid_e2e(tutorial 1200)
depthgrid_e2e(readers 1200)
depthgrid_e2e(readers_all 2400 slow)
set_tests_properties(e2e.readers_all PROPERTIES SKIP_RETURN_CODE 77)  # no network
depthgrid_e2e(secrets 900)
depthgrid_e2e(signals 1200)
depthgrid_e2e(cell_requests 1200)
depthgrid_e2e(weights 1200)
depthgrid_e2e(control 1200)
foreach(name control_oracle label_sources comparison page instants)
  add_test(NAME e2e.${name} COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -B
           ${PROJECT_SOURCE_DIR}/tests/e2e/${name}.py ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  set_tests_properties(e2e.${name} PROPERTIES LABELS e2e TIMEOUT 900)
endforeach()
set_tests_properties(e2e.page PROPERTIES SKIP_RETURN_CODE 77)  # no Chromium
depthgrid_e2e(start_cells 1200)
depthgrid_e2e(out_of_memory 1200)
depthgrid_e2e(stop_in_evaluation 1200)
depthgrid_e2e(modes 1200)
depthgrid_e2e(check 900)
depthgrid_e2e(periodic 900)
depthgrid_e2e(probes 1200)
depthgrid_e2e(supervisor 1200)
depthgrid_e2e(hang 900)
depthgrid_e2e(slurm 1200 slurm)
depthgrid_e2e(slurm_matrix 1800 slurm slow)
depthgrid_e2e(slurm_runner 1800 slurm slow)
add_test(NAME e2e.slurm_sweep COMMAND ${PROJECT_SOURCE_DIR}/tests/e2e/slurm_sweep.py
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(e2e.slurm_sweep PROPERTIES LABELS "e2e;slurm;slow" TIMEOUT 1800)
add_test(NAME e2e.until_ci_slurm COMMAND ${PROJECT_SOURCE_DIR}/tests/e2e/until_ci_slurm.py
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(e2e.until_ci_slurm PROPERTIES LABELS "e2e;slurm" TIMEOUT 600)
set_tests_properties(e2e.slurm e2e.slurm_matrix e2e.slurm_sweep e2e.until_ci_slurm PROPERTIES SKIP_RETURN_CODE 77)  # no Slurm
depthgrid_e2e(bundle 1200)
depthgrid_e2e(gpu_check 900)
depthgrid_e2e(fused_alone 3600 slow)
# What users read, whole: tests/golden/messages.
add_test(NAME e2e.messages COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python
         ${PROJECT_SOURCE_DIR}/tests/e2e/messages.py --build ${PROJECT_BINARY_DIR})
set_tests_properties(e2e.messages PROPERTIES LABELS e2e TIMEOUT 900)
# chaos.py: a share of each mode here, whole counts (docs/reliability.md) with the label slow. Times are measured.
# depthgrid_chaos(<name> <timeout in s> <label> <word of chaos.py>...)
function(depthgrid_chaos name timeout label)
  add_test(NAME e2e.chaos_${name} COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python
           ${PROJECT_SOURCE_DIR}/tests/e2e/chaos.py ${ARGN} --build ${PROJECT_BINARY_DIR})
  set_tests_properties(e2e.chaos_${name} PROPERTIES LABELS "e2e;${label}" TIMEOUT ${timeout})
endfunction()
depthgrid_chaos(kill 1200 chaos kill --trials 15)
depthgrid_chaos(zombie 900 chaos zombie --events 5)
depthgrid_chaos(disk 900 chaos disk --levels 3)
depthgrid_chaos(isolation 900 chaos isolation --cells 26 --failing 9)
depthgrid_chaos(detect 900 chaos detect --rounds 1)
depthgrid_chaos(preempt 900 chaos preempt --rounds 3)
depthgrid_chaos(kill_all 7200 slow kill --trials 1000 --seed 2)
depthgrid_chaos(zombie_all 7200 slow zombie --events 500 --seed 2)
depthgrid_chaos(disk_all 1800 slow disk --levels 100)
depthgrid_chaos(isolation_all 1800 slow isolation --cells 100 --failing 20 --seed 2)
depthgrid_chaos(detect_all 1800 slow detect --rounds 10)
depthgrid_chaos(preempt_all 1800 slow preempt --rounds 40)
# Both pack the build, in one place.
set_tests_properties(e2e.bundle e2e.gpu_check PROPERTIES RESOURCE_LOCK bundle)
# Leaves outside a cell's identity change no figure: a few here, all with the label slow (docs/identity.md).
function(depthgrid_identity name labels)  # depthgrid_identity(<name> <labels> <option>...)
  add_test(NAME e2e.${name} COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -B
           ${PROJECT_SOURCE_DIR}/tests/e2e/outside_identity.py ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${ARGN})
  set_tests_properties(e2e.${name} PROPERTIES LABELS "${labels}" TIMEOUT 1800)
endfunction()
# Members of JSON answers, by name and type, against tests/golden/json_members.txt.
add_test(NAME e2e.json_members COMMAND ${PROJECT_SOURCE_DIR}/.venv/bin/python -B
         ${PROJECT_SOURCE_DIR}/tests/e2e/json_members.py --build ${PROJECT_BINARY_DIR})
set_tests_properties(e2e.json_members PROPERTIES LABELS e2e TIMEOUT 600)
depthgrid_identity(identity e2e --sample)
depthgrid_identity(identity_all "e2e;slow")
# One thing of every kind is added to a copy of the sources as CONTRIBUTING.md says; with the label slow it is built
# and run there, too.
add_test(NAME e2e.extension COMMAND bash ${PROJECT_SOURCE_DIR}/tests/extension/try.sh
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(e2e.extension PROPERTIES LABELS e2e TIMEOUT 300 ENVIRONMENT COUNT_ONLY=1)
add_test(NAME e2e.extension_all COMMAND bash ${PROJECT_SOURCE_DIR}/tests/extension/try.sh
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(e2e.extension_all PROPERTIES LABELS "e2e;slow" TIMEOUT 3600)
