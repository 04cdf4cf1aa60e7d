cmake_minimum_required(VERSION 3.25)
# Compiles every source by itself, without optimisation: in the release build, where sources of a folder
# are joined, one may live on what another includes. Takes about ten minutes on two cores.
# Run: cmake -DROOT=. -DSCRATCH=FOLDER -DPREFIX_PATH=... -P cmake/check_sources_alone.cmake
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${ROOT} -B ${SCRATCH} -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
          -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DDEPTHGRID_JOINED=OFF -DDEPTHGRID_CUDA=OFF
          "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
  RESULT_VARIABLE code OUTPUT_QUIET)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "cannot configure ${SCRATCH}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH} -j 2 -- -k 0 RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "a source does not compile by itself: it lacks an include")
endif()
