#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/machine.hpp"
#include "sweeps/doctor/finding.hpp"

namespace depthgrid {

/// @param request  DEPTHGRID_ISA; null = unset.
Finding processor_finding(const std::string& model, const char* request);
/// @param threads  OMP_NUM_THREADS; 0 = unset.
Finding cores_finding(std::int64_t cores, std::int64_t threads);
Finding memory_finding(double bytes);
/// @param size, free  of /dev/shm, bytes. @param leftovers  files of dead processes there.
Finding shared_memory_finding(double size, double free, std::size_t leftovers);
Finding umask_finding(unsigned mask);
/// @param folder  value of DEPTHGRID_DATA; null = unset.
Finding data_finding(const char* folder);

/// This machine's processor, cores, memory, shared memory, umask, clock and folder of corpora.
std::vector<Finding> machine_findings(const Machine& machine);

}  // namespace depthgrid
