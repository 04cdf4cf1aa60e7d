#pragma once

// For kernels of plain loops, vectorised by the compiler (built with -O3 -fopenmp-simd and without
// errno): a function is compiled once per instruction-set level, with all that it calls inlined,
// and the best one is chosen at program start.
#define DEPTHGRID_CLONES \
  __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#define DEPTHGRID_INLINE inline __attribute__((always_inline))
