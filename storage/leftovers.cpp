#include "storage/leftovers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <ranges>
#include <string_view>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/machine.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kUnfinishedAge(1);
constexpr std::chrono::minutes kSegmentAge(1);
constexpr std::array<std::string_view, 2> kSegments = {"vader_segment.", "sm_segment."};

void add(Leftovers& out, const fs::path& file) {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file, unknown);
  out.files.push_back(file);
  out.bytes += unknown ? 0 : size;
}

/// Files directly in `folder` whose name begins with `prefix`.
std::vector<fs::path> files_named(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> out;
  std::error_code absent;
  for (fs::directory_iterator it(folder, absent), end; !absent && it != end; it.increment(absent)) {
    std::error_code unknown;
    const bool plain = fs::symlink_status(it->path(), unknown).type() == fs::file_type::regular;
    if (plain && it->path().filename().string().starts_with(prefix)) out.push_back(it->path());
  }
  return out;
}

bool is_cell_folder(const fs::path& root, const fs::path& folder) {
  return folder.parent_path().parent_path() == root / "cells";
}

/// Host names that may be part of a segment's name: whole, and up to the first dot.
std::vector<std::string> host_names() {
  const std::string whole = host_name();
  if (whole.empty()) return {};
  return {whole, whole.substr(0, whole.find('.'))};
}

/// True if a process of this user has the file mapped, as each rank of its node has.
bool is_mapped(const std::string& file) {
  std::error_code absent;
  for (fs::directory_iterator it("/proc", absent), end; !absent && it != end;
       it.increment(absent)) {
    if (it->path().filename().string().find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::ifstream maps(it->path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.ends_with(file)) return true;
    }
  }
  return false;
}

/// A builder's private file (H5Scratch), which has a name only for a moment: that of a dead process
/// of this machine, or an empty one of this user that has kept its name for an hour.
bool is_dead_scratch(const fs::path& file) {
  struct stat about{};
  if (lstat(file.c_str(), &about) != 0 || about.st_uid != geteuid()) return false;
  if (surely_dead_tag(file.filename().string().substr(kScratchPrefix.size()))) return true;
  const auto age =
      std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(about.st_mtime);
  return about.st_size == 0 && age >= kUnfinishedAge;
}

}  // namespace

fs::file_time_type filesystem_time(const fs::path& folder) {
  const fs::path file = scratch_name(folder);
  std::ofstream(file) << '.';
  std::error_code unknown;
  const fs::file_time_type now = fs::last_write_time(file, unknown);
  fs::remove(file, unknown);
  return now;
}

Leftovers store_leftovers(const Store& store) {
  Leftovers out;
  const fs::file_time_type now = filesystem_time(store.root());
  std::error_code absent;
  std::vector<fs::path> folders = {store.root()};
  for (fs::recursive_directory_iterator it(store.root(), absent), end; !absent && it != end;
       it.increment(absent)) {
    if (it->is_directory() && !it->is_symlink()) folders.push_back(it->path());
  }
  for (const fs::path& folder : folders) {
    const std::vector<fs::path> files = files_named(folder, kScratchPrefix);
    if (files.empty()) continue;
    const bool cell = is_cell_folder(store.root(), folder);
    if (cell && lease_state(folder).kind == LeaseState::Kind::Held) continue;
    for (const fs::path& file : files) {
      std::error_code gone;
      const bool old = now - fs::last_write_time(file, gone) >= kUnfinishedAge;
      if (!gone && (cell || old)) add(out, file);
    }
  }
  std::ranges::sort(out.files);
  return out;
}

Leftovers shared_memory_leftovers(const fs::path& folder) {
  Leftovers out;
  for (const fs::path& file : files_named(folder, kScratchPrefix)) {
    if (is_dead_scratch(file)) add(out, file);
  }
  for (const std::string_view kind : kSegments) {
    for (const std::string& host : host_names()) {
      for (const fs::path& file : files_named(folder, std::string(kind) + host + ".")) {
        struct stat about{};
        if (stat(file.c_str(), &about) != 0 || about.st_uid != geteuid()) continue;
        const auto written = std::chrono::system_clock::from_time_t(about.st_mtime);
        if (std::chrono::system_clock::now() - written < kSegmentAge) continue;
        if (std::ranges::count(out.files, file) == 0 && !is_mapped(file)) add(out, file);
      }
    }
  }
  std::ranges::sort(out.files);
  return out;
}

std::vector<std::string> remove_leftovers(const Leftovers& leftovers) {
  std::vector<std::string> problems;
  for (const fs::path& file : leftovers.files | std::views::reverse) {
    std::error_code problem;
    fs::remove(file, problem);
    if (problem) problems.push_back(file.string() + ": " + problem.message());
  }
  return problems;
}

}  // namespace depthgrid
