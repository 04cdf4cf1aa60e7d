#include "core/base/process_identity.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/machine.hpp"

namespace depthgrid {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string pid_namespace() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string();
}

struct ProcStat {
  char state = 0;
  std::int64_t start_time = 0;
};

/// Fields 3 and 22 of /proc/PID/stat; nothing if there is no such process. The name (field 2) may
/// contain anything, so fields are counted from its closing bracket. Source: proc(5).
std::optional<ProcStat> proc_stat(std::int64_t pid) {
  const std::string line = first_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t close = line.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(close + 1));
  ProcStat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> stat.start_time;
  return fields ? std::optional(stat) : std::nullopt;
}

std::string scheduler_job() {
  const char* job = std::getenv("SLURM_JOB_ID");
  const char* step = std::getenv("SLURM_STEP_ID");
  if (job == nullptr) return "";
  return step == nullptr ? std::string(job) : fmt::format("{}.{}", job, step);
}

}  // namespace

ProcessIdentity this_process() {
  const std::int64_t pid = getpid();
  const auto stat = proc_stat(pid);
  const std::string host = host_name();
  return {random_uuid(),
          host.empty() ? "unknown" : host,
          first_line("/proc/sys/kernel/random/boot_id"),
          pid_namespace(),
          pid,
          stat ? stat->start_time : 0,
          scheduler_job()};
}

bool surely_dead(const ProcessIdentity& identity) {
  const bool here = !identity.boot_id.empty() && identity.host == host_name() &&
                    identity.boot_id == first_line("/proc/sys/kernel/random/boot_id") &&
                    identity.pid_namespace == pid_namespace();
  if (!here || identity.start_time == 0) return false;
  const auto stat = proc_stat(identity.pid);
  return !stat || stat->state == 'Z' || stat->state == 'X' ||
         stat->start_time != identity.start_time;
}

std::string random_uuid() {
  std::random_device random;
  const auto word = [&random] { return static_cast<std::uint32_t>(random()); };
  const std::uint32_t a = word();
  const std::uint32_t b = word();
  const std::uint32_t c = word();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:04x}{:08x}", a, b >> 16U, b & 0xFFFU,
                     0x8000U | ((c >> 16U) & 0x3FFFU), c & 0xFFFFU, word());
}

}  // namespace depthgrid
