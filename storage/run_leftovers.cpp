#include "storage/run_leftovers.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kSilentChannel(24);
constexpr std::string_view kStopRequest = "stop-";

void add_file(Leftovers& out, const fs::path& file, const Fs& disk) {
  out.files.push_back(file);
  out.bytes += disk.facts(file, Links::Follow).value.size;
}

/// A progress channel and its files; channels have no folders inside.
void add_channel(Leftovers& out, const fs::path& channel, const Fs& disk) {
  out.files.push_back(channel);
  for (const fs::path& file : disk.entries(channel)) add_file(out, file, disk);
}

bool owner_is_dead(const fs::path& channel, const Fs& disk) {
  try {
    const auto owner = identity_from_json(read_text_file(channel / "owner", disk));
    return owner && surely_dead(*owner);
  } catch (const StorageError&) {
    return false;
  }
}

/// True if neither the channel nor a file of it has changed for long.
bool is_silent(const fs::path& channel, FileTime now, const Fs& disk) {
  std::vector<fs::path> all = disk.entries(channel);
  all.push_back(channel);
  return std::ranges::all_of(all, [&](const fs::path& file) {
    const auto about = disk.facts(file, Links::Follow);
    return about && now - about.value.modified >= kSilentChannel;
  });
}

void add_launch(Leftovers& out, const fs::path& launch, const Fs& disk) {
  const LeaseState lease = lease_state(launch, disk);
  if (lease.generation == 0 || lease.kind == LeaseState::Kind::Held) return;
  for (const auto& [name, kind] : disk.list(launch).value) {
    if (name == "current.json") add_file(out, launch / name, disk);
    if (name.starts_with("board") && kind == FileKind::Folder) {
      add_channel(out, launch / name, disk);
    }
  }
}

/// A request whose cell failed stays: the next run would try that cell again.
bool is_obeyed(const Store& store, const std::string& name) {
  if (!name.starts_with(kStopRequest)) return false;
  try {
    const CellOutcome cell = cell_outcome(store, name.substr(kStopRequest.size()));
    return cell.seal || cell.state.status == CellStatus::Cancelled;
  } catch (const UserError&) {
    return false;  // not a cell's id
  }
}

}  // namespace

Leftovers run_leftovers(const Store& store) {
  Leftovers out;
  const Fs& disk = store.fs();
  const FileTime now = filesystem_time(store.root(), disk);
  for (const auto& [name, kind] : disk.list(store.live_dir()).value) {
    const fs::path channel = store.live_dir() / name;
    if (kind != FileKind::Folder) continue;
    if (owner_is_dead(channel, disk) || is_silent(channel, now, disk))
      add_channel(out, channel, disk);
  }
  for (const fs::path& launch : disk.entries(store.root() / "launches")) {
    add_launch(out, launch, disk);
  }
  for (const FolderEntry& request : disk.list(store.requests_dir()).value) {
    if (is_obeyed(store, request.name)) add_file(out, store.requests_dir() / request.name, disk);
  }
  std::ranges::sort(out.files);
  return out;
}

}  // namespace depthgrid
