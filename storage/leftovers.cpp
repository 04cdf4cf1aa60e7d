#include "storage/leftovers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ranges>
#include <span>
#include <sstream>
#include <string_view>

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

void add(Leftovers& out, const fs::path& file, const Fs& disk) {
  out.files.push_back(file);
  out.bytes += disk.facts(file, Links::Follow).value.size;
}

/// Files directly in `folder` whose name begins with `prefix`.
std::vector<fs::path> files_named(const fs::path& folder, std::string_view prefix, const Fs& disk) {
  std::vector<fs::path> out;
  for (const FolderEntry& entry : disk.list(folder).value) {
    const bool plain = entry.kind == FileKind::File;
    if (plain && entry.name.starts_with(prefix)) out.push_back(folder / entry.name);
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
bool is_mapped(const std::string& file, const Fs& disk) {
  for (const FolderEntry& process : disk.list("/proc").value) {
    if (process.name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::istringstream maps(disk.read(fs::path("/proc") / process.name / "maps").value);
    for (std::string line; std::getline(maps, line);) {
      if (line.ends_with(file)) return true;
    }
  }
  return false;
}

/// A builder's private file (H5Scratch), which has a name only for a moment: that of a dead process
/// of this machine, or an empty one of this user that has kept its name for an hour.
bool is_dead_scratch(const fs::path& file, const Fs& disk) {
  const auto [about, gone] = disk.facts(file, Links::Stay);
  if (gone != 0 || about.owner != disk.user()) return false;
  if (surely_dead_tag(file.filename().string().substr(kScratchPrefix.size()))) return true;
  const auto age = std::chrono::system_clock::now() - about.modified;
  return about.size == 0 && age >= kUnfinishedAge;
}

}  // namespace

FileTime filesystem_time(const fs::path& folder, const Fs& disk) {
  const fs::path file = scratch_name(folder);
  const auto [open, error] = disk.open(file, OpenHow::New);
  if (error != 0) return {};
  open->write(std::as_bytes(std::span(".", 1)));
  const FileTime now = open->facts().value.modified;
  disk.remove(file);
  return now;
}

namespace {

/// A folder and all below it.
void add_folders(std::vector<fs::path>& out, const fs::path& folder, const Fs& disk) {
  out.push_back(folder);
  for (const FolderEntry& entry : disk.list(folder).value) {
    if (entry.kind == FileKind::Folder) add_folders(out, folder / entry.name, disk);
  }
}

}  // namespace

Leftovers store_leftovers(const Store& store) {
  Leftovers out;
  const Fs& disk = store.fs();
  const FileTime now = filesystem_time(store.root(), disk);
  std::vector<fs::path> folders;
  add_folders(folders, store.root(), disk);
  for (const fs::path& folder : folders) {
    const std::vector<fs::path> files = files_named(folder, kScratchPrefix, disk);
    if (files.empty()) continue;
    const bool cell = is_cell_folder(store.root(), folder);
    if (cell && lease_state(folder, disk).kind == LeaseState::Kind::Held) continue;
    for (const fs::path& file : files) {
      const auto about = disk.facts(file, Links::Follow);
      const bool old = now - about.value.modified >= kUnfinishedAge;
      if (about && (cell || old)) add(out, file, disk);
    }
  }
  std::ranges::sort(out.files);
  return out;
}

Leftovers shared_memory_leftovers(const fs::path& folder, const Fs& disk) {
  Leftovers out;
  for (const fs::path& file : files_named(folder, kScratchPrefix, disk)) {
    if (is_dead_scratch(file, disk)) add(out, file, disk);
  }
  for (const std::string_view kind : kSegments) {
    for (const std::string& host : host_names()) {
      for (const fs::path& file : files_named(folder, std::string(kind) + host + ".", disk)) {
        const auto [about, gone] = disk.facts(file, Links::Follow);
        if (gone != 0 || about.owner != disk.user()) continue;
        if (std::chrono::system_clock::now() - about.modified < kSegmentAge) continue;
        if (std::ranges::count(out.files, file) == 0 && !is_mapped(file, disk)) {
          add(out, file, disk);
        }
      }
    }
  }
  std::ranges::sort(out.files);
  return out;
}

std::vector<std::string> remove_leftovers(const Leftovers& leftovers, const Fs& disk) {
  std::vector<std::string> problems;
  for (const fs::path& file : leftovers.files | std::views::reverse) {
    const int error = disk.remove(file);
    if (error != 0 && error != ENOENT) {
      problems.push_back(file.string() + ": " + std::strerror(error));
    }
  }
  return problems;
}

}  // namespace depthgrid
