#include "sweeps/doctor/machine_checks.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "storage/leftovers.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

constexpr double kMegabytes = 1 << 20;

unsigned current_umask() {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

}  // namespace

Finding cores_finding(std::int64_t cores, std::int64_t threads) {
  Finding out{.what = "cores", .seen = fmt::format("{} for this process", cores)};
  if (threads > 0) out.seen += fmt::format(", OMP_NUM_THREADS={}", threads);
  if (threads <= cores) return out;
  return out.warning(
      "threads would share cores: unset OMP_NUM_THREADS (resources.threads decides), or get "
      "more cores (taskset, --cpus-per-task)");
}

Finding processor_finding(const std::string& model, const char* request) {
  Finding out{.what = "processor"};
  try {
    std::vector<std::string_view> others;
    const Isa isa = choose_isa("DEPTHGRID_ISA", request);
    for (const Isa other : supported_isas()) {
      if (other != isa) others.push_back(name_of(other));
    }
    out.seen = fmt::format("{}, kernels for {}", model, name_of(isa));
    if (!others.empty()) {
      out.seen += fmt::format(" (DEPTHGRID_ISA: also {})", fmt::join(others, ", "));
    }
  } catch (const UserError& e) {
    out.seen = model;
    return out.problem(e.what());
  }
  return out;
}

Finding memory_finding(double bytes) {
  Finding out{.what = "memory", .seen = short_bytes(bytes) + " for this process"};
  if (bytes >= 2048 * kMegabytes) return out;
  return out.warning(
      "a rank needs about 150 MiB beside its models: get more (the control group's "
      "memory.max, --mem), or start fewer ranks");
}

Finding shared_memory_finding(double size, double free, std::size_t leftovers) {
  Finding out{.what = "/dev/shm",
              .seen = fmt::format("{} of {} free", short_bytes(free), short_bytes(size))};
  if (leftovers > 0) {
    out.seen += fmt::format(", {} files of dead processes", leftovers);
    out = out.warning("remove them: depthgrid gc");
  }
  if (free >= 128 * kMegabytes) return out;
  return out.warning(
      "ranks of a machine exchange their gradients there: make it larger (docker run "
      "--shm-size=1g), or free some (depthgrid gc)");
}

Finding umask_finding(unsigned mask) {
  Finding out{.what = "umask", .seen = fmt::format("{:04o}", mask)};
  if ((mask & 0700U) != 0) return out.problem("the owner could not use new files: umask 022");
  if ((mask & 0002U) != 0) return out;
  return out.warning("everybody could change what programs write for you: umask 022");
}

Finding data_finding(const char* folder) {
  Finding out{.what = "corpora"};
  if (folder == nullptr || *folder == '\0') {
    out.seen =
        "DEPTHGRID_DATA is not set: data.corpus synthetic and self, and data.path, are there";
    return out;
  }
  std::error_code ignored;
  out.seen = fmt::format("DEPTHGRID_DATA={}", folder);
  if (std::filesystem::is_directory(folder, ignored)) return out;
  out.seen += ", which is no folder";
  return out.problem("unset it, or name the folder that scripts/fetch_data.sh has filled");
}

std::vector<Finding> machine_findings(const Machine& machine) {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  std::vector<Finding> out = {
      processor_finding(cpu_model(), std::getenv("DEPTHGRID_ISA")),
      cores_finding(machine.cores, threads == nullptr ? 0 : std::atoll(threads)),
      memory_finding(machine.memory_bytes)};
  struct statvfs shm{};
  if (statvfs("/dev/shm", &shm) == 0) {
    const auto unit = static_cast<double>(shm.f_frsize);
    out.push_back(shared_memory_finding(static_cast<double>(shm.f_blocks) * unit,
                                        static_cast<double>(shm.f_bavail) * unit,
                                        shared_memory_leftovers().files.size()));
  } else {
    out.push_back({"/dev/shm", FindingLevel::Warning, "is not there",
                   "mount it: mount -t tmpfs tmpfs /dev/shm"});
  }
  out.push_back(umask_finding(current_umask()));
  out.push_back(data_finding(std::getenv("DEPTHGRID_DATA")));
  return out;
}

}  // namespace depthgrid
