#include "sweeps/doctor/store_checks.hpp"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "storage/files/fs_probe.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1 << 20;

fs::path existing_folder(fs::path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder, ignored);
  while (!fs::is_directory(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

Finding file_system_finding(const fs::path& folder) {
  Finding out{.what = "file system"};
  const Stopwatch clock;
  try {
    require_filesystem(folder);
    out.seen = fmt::format("{}: exclusive creation, hard links, rename and fsync work ({:.1f} ms)",
                           folder.string(), 1e3 * clock.seconds());
  } catch (const Error& problem) {
    out.seen = problem.what();
    return out.problem("put the store on another file system (--store)");
  }
  return out;
}

/// Locks, and the time of a new file.
void check_locks(const fs::path& folder, std::vector<Finding>& out) {
  const fs::path file = scratch_name(folder);
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (fd < 0) return;  // file_system_finding() has reported it
  Finding lock{.what = "locks", .seen = "flock works"};
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    lock = {"locks", FindingLevel::Warning, fmt::format("flock: {}", std::strerror(errno)),
            "depthgrid needs no locks; for other readers of HDF5 files set "
            "HDF5_USE_FILE_LOCKING=FALSE"};
  }
  out.push_back(lock);
  struct stat about{};
  if (write(fd, "x", 1) == 1 && fsync(fd) == 0 && fstat(fd, &about) == 0) {
    const double time = static_cast<double>(about.st_mtim.tv_sec) +
                        1e-9 * static_cast<double>(about.st_mtim.tv_nsec);
    out.push_back(clock_finding(time - unix_time()));
  }
  close(fd);
  unlink(file.c_str());
}

}  // namespace

Finding space_finding(double free_bytes, std::uint64_t free_files, bool counts_files) {
  Finding out{.what = "free space", .seen = short_bytes(free_bytes)};
  if (counts_files) out.seen += fmt::format(", {} files", free_files);
  const bool none = free_bytes < 64 * kMiB || (counts_files && free_files < 100);
  const bool little = free_bytes < 1024 * kMiB || (counts_files && free_files < 10000);
  if (!none && !little) return out;
  const std::string cure =
      "free some, or choose another folder with --store; `plan --json` predicts what a sweep "
      "needs (predicted_stored_bytes)";
  return none ? out.problem(cure) : out.warning(cure);
}

Finding clock_finding(double skew) {
  constexpr double kMuch = 60;
  Finding out{.what = "clock", .seen = fmt::format("files are dated {:+.1f} s from here", skew)};
  if (std::abs(skew) <= kMuch) return out;
  return out.warning(
      "leases do not depend on it, but times in listings will be wrong: have the clocks of "
      "this machine and its file server set");
}

Finding permissions_finding(const fs::path& folder, const FolderModes& modes, bool is_store,
                            FileAccess access) {
  const auto problem = unsafe_modes(folder, modes, access);
  if (problem && (is_store || problem->of_mount)) {
    return {"permissions", FindingLevel::Problem, problem->seen, problem->cure};
  }
  return {.what = "permissions",
          .seen = is_store ? fmt::format("mode {:o}", modes.mode) : "a new store gets mode 750"};
}

std::vector<Finding> store_findings(const fs::path& wanted, bool holds_stores) {
  const fs::path folder = existing_folder(wanted);
  std::vector<Finding> out = {file_system_finding(folder)};
  std::error_code ignored;
  const bool is_store = !holds_stores && fs::is_directory(wanted, ignored);
  const FileAccess access = is_store ? Store::fs_at(wanted).access() : FileAccess::Owner;
  out.push_back(permissions_finding(folder, modes_of(folder), is_store, access));
  check_locks(folder, out);
  struct statvfs space{};
  if (statvfs(folder.c_str(), &space) == 0) {
    out.push_back(
        space_finding(static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize),
                      space.f_favail, space.f_files > 0));
  }
  return out;
}

}  // namespace depthgrid
