#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace depthgrid {

/// Which process on which boot of which machine; enough to tell on the same machine whether it
/// still lives, although process numbers are used again.
struct ProcessIdentity {
  std::string uuid;  // random, made with this object
  std::string host;
  std::string boot_id;        // /proc/sys/kernel/random/boot_id
  std::string pid_namespace;  // containers on one machine have process numbers of their own
  std::int64_t pid = 0;
  std::int64_t start_time = 0;  // field 22 of /proc/PID/stat, clock ticks since boot
  std::string scheduler_job;    // "1234.0" under Slurm, else empty
};

/// Of the calling process, with a fresh uuid.
ProcessIdentity this_process();

/// One JSON object on one line.
std::string to_json(const ProcessIdentity& identity);

/// Nothing if the text is not such an object.
std::optional<ProcessIdentity> identity_from_json(std::string_view text);

/// True only if it ran on this boot of this machine, in this process namespace, and is gone (or a
/// zombie, or its number belongs to a later process). Of other machines nothing is known: false.
bool surely_dead(const ProcessIdentity& identity);

/// A random (version 4) UUID in lower case.
std::string random_uuid();

}  // namespace depthgrid
