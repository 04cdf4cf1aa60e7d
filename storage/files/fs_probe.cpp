#include "storage/files/fs_probe.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

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
  const Fs& disk;
  fs::path folder;
  fs::path a = scratch_name(folder);
  fs::path b = scratch_name(folder);
  Trial(const Fs& on, fs::path where) : disk(on), folder(std::move(where)) {}
  ~Trial() {
    disk.remove(a);
    disk.remove(b);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  int make(const fs::path& file) const { return disk.open(file, OpenHow::New).error; }
  std::uint64_t inode(const fs::path& file) const {
    return disk.facts(file, Links::Stay).value.inode;
  }
};

/// What a capability gives that fails without an errno: the call says yes and does something else.
constexpr int kWrong = -1;

int creates_exclusively(const Trial& t) {
  if (const int error = t.make(t.a); error != 0) return error;
  const int again = t.make(t.a);
  return again == EEXIST ? 0 : again == 0 ? kWrong : again;
}

int links_without_replacing(const Trial& t) {
  if (const int error = t.disk.link(t.a, t.b); error != 0) return error;
  if (t.inode(t.a) != t.inode(t.b)) return kWrong;
  const int again = t.disk.link(t.a, t.b);
  if (again != EEXIST) return again == 0 ? kWrong : again;
  return t.disk.remove(t.b);
}

int renames_over(const Trial& t) {
  if (const int error = t.make(t.b); error != 0) return error;
  const std::uint64_t expected = t.inode(t.a);
  if (const int error = t.disk.rename(t.a, t.b); error != 0) return error;
  return t.inode(t.b) == expected && t.inode(t.a) == 0 ? 0 : kWrong;
}

int syncs_file(const Trial& t) {
  const auto [file, error] = t.disk.open(t.b, OpenHow::Overwrite);
  if (error != 0) return error;
  const auto written = file->write(std::as_bytes(std::span("x", 1)));
  if (written.value != 1) return written.error != 0 ? written.error : kWrong;
  return file->sync();
}

int syncs_folder(const Trial& t) {
  const auto [folder, error] = t.disk.open_folder(t.folder);
  return error != 0 ? error : folder->sync();
}

struct Capability {
  const char* name;
  int (*fails)(const Trial&);  // 0: it works; else errno, or kWrong
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

void probe_space(const Trial& t) {
  const auto [space, unknown] = t.disk.space(t.folder);
  if (unknown != 0) return;
  if (space.bytes < kLittleSpace) {
    warn(t.folder, fmt::format("only {} MiB are free", space.bytes >> 20U));
  }
  if (space.counts_files && space.files < kFewInodes) {
    warn(t.folder, fmt::format("only {} files can be made", space.files));
  }
}

void probe_clock(const Trial& t) {
  const auto about = t.disk.facts(t.b, Links::Follow);
  if (!about) return;
  const double skew = std::floor(unix_seconds(about.value.modified)) - unix_time();
  if (std::abs(skew) <= kClockSkew) return;
  warn(t.folder,
       fmt::format("the file server's clock differs by {:.0f} s (nothing depends on it)", skew));
}

}  // namespace

void require_filesystem(const fs::path& folder, const Fs& disk) {
  const Trial trial(disk, folder);
  std::string missing;
  for (const Capability& capability : kCapabilities) {
    const int error = capability.fails(trial);
    if (error == 0) continue;
    const bool closed = error == EACCES && disk.may_make_in(folder) == EACCES;
    if (error == ENOSPC || error == EDQUOT || closed) {
      throw_errno(folder / "", "cannot write", error, 1, disk);
    }
    missing = capability.name;
    if (error != kWrong) missing += fmt::format(" ({})", std::strerror(error));
    break;  // the rest needs its files
  }
  probe_space(trial);
  probe_clock(trial);
  if (missing.empty()) return;
  throw StorageError(folder, "a store cannot be here, its filesystem lacks: " + missing +
                                 "; choose another folder with --store");
}

}  // namespace depthgrid
