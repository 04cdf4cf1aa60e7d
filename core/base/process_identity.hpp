#pragma once

#include <cstdint>
#include <string>

namespace depthgrid {

/// A process, its boot and its machine: enough to know on that machine whether the process is still
/// alive, although process ids are reused.
struct ProcessIdentity {
  std::string uuid;  // random
  std::string host;
  std::string boot_id;        // /proc/sys/kernel/random/boot_id
  std::string pid_namespace;  // containers on one machine have their own process ids
  std::int64_t pid = 0;
  std::int64_t start_time = 0;  // field 22 of /proc/PID/stat, clock ticks since boot
  std::string scheduler_job;    // "1234.0" under Slurm, else empty
};

/// Identity of the calling process, with a new uuid.
ProcessIdentity this_process();

/// True only if it ran in this boot of this machine, in this process namespace, and is gone (or a
/// zombie, or its id belongs to a later process). Always false for other machines.
bool surely_dead(const ProcessIdentity& identity);

/// A random (version 4) UUID in lower case.
std::string random_uuid();

}  // namespace depthgrid
