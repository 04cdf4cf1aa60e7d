#include "storage/files/fs_probe.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLittleSpace = 256U << 20U;
constexpr std::uint64_t kFewInodes = 10000;
constexpr double kClockSkew = 60;  // s

/// Files used by one probe; all are removed when it ends.
struct Trial {
  fs::path folder;
  fs::path a = scratch_name(folder);
  fs::path b = scratch_name(folder);
  explicit Trial(fs::path where) : folder(std::move(where)) {}
  ~Trial() {
    unlink(a.c_str());
    unlink(b.c_str());
  }
};

bool make_file(const fs::path& file) {
  const Fd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640));
  return static_cast<bool>(fd);
}

ino_t inode(const fs::path& file) {
  struct stat about{};
  return lstat(file.c_str(), &about) == 0 ? about.st_ino : 0;
}

bool creates_exclusively(const Trial& t) {
  return make_file(t.a) && !make_file(t.a) && errno == EEXIST;
}

bool links_without_replacing(const Trial& t) {
  return link(t.a.c_str(), t.b.c_str()) == 0 && inode(t.a) == inode(t.b) &&
         link(t.a.c_str(), t.b.c_str()) != 0 && errno == EEXIST && unlink(t.b.c_str()) == 0;
}

bool renames_over(const Trial& t) {
  if (!make_file(t.b)) return false;
  const ino_t expected = inode(t.a);
  return rename(t.a.c_str(), t.b.c_str()) == 0 && inode(t.b) == expected && inode(t.a) == 0;
}

bool syncs_file(const Trial& t) {
  const Fd fd(open(t.b.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), "x", 1) == 1 && fsync(fd.get()) == 0;
}

bool syncs_folder(const Trial& t) {
  const Fd fd(open(t.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd && fsync(fd.get()) == 0;
}

struct Capability {
  const char* name;
  bool (*works)(const Trial&);
};

/// In this order: each uses the files left by the one before.
constexpr std::array<Capability, 5> kCapabilities = {{
    {"exclusive creation (O_EXCL)", &creates_exclusively},
    {"hard links that refuse an existing name", &links_without_replacing},
    {"rename over an existing file", &renames_over},
    {"fsync of a file", &syncs_file},
    {"fsync of a folder", &syncs_folder},
}};

void warn(const fs::path& folder, const std::string& text) {
  log(LogLevel::Warning, folder.string() + ": " + text);
}

void look_at_space(const fs::path& folder) {
  struct statvfs space{};
  if (statvfs(folder.c_str(), &space) != 0) return;
  const std::uint64_t free_bytes = space.f_bavail * space.f_frsize;
  if (free_bytes < kLittleSpace)
    warn(folder, fmt::format("only {} MiB are free", free_bytes >> 20U));
  if (space.f_files > 0 && space.f_favail < kFewInodes) {
    warn(folder, fmt::format("only {} files can be made", space.f_favail));
  }
}

void look_at_clock(const Trial& t) {
  struct stat about{};
  if (stat(t.b.c_str(), &about) != 0) return;
  const double skew = static_cast<double>(about.st_mtim.tv_sec) - unix_time();
  if (std::abs(skew) <= kClockSkew) return;
  warn(t.folder,
       fmt::format("the file server's clock differs by {:.0f} s (nothing depends on it)", skew));
}

}  // namespace

void require_filesystem(const fs::path& folder) {
  const Trial trial(folder);
  std::string missing;
  for (const Capability& capability : kCapabilities) {
    errno = 0;
    if (capability.works(trial)) continue;
    const int code = errno;
    if (code == ENOSPC || code == EDQUOT) throw_errno(folder / "", "cannot write", code, 1);
    missing = capability.name;
    if (code != 0) missing += fmt::format(" ({})", std::strerror(code));
    break;  // the rest needs its files
  }
  look_at_space(folder);
  look_at_clock(trial);
  if (missing.empty()) return;
  throw StorageError(folder, "a store cannot be here, its filesystem lacks: " + missing +
                                 "; choose another folder with --store");
}

}  // namespace depthgrid
