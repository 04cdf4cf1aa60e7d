#include "storage/run_leftovers.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>

#include "core/base/error.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kSilentBoard(24);
constexpr std::string_view kStopOrder = "stop-";

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code absent;
  for (fs::directory_iterator it(folder, absent), end; !absent && it != end; it.increment(absent)) {
    out.push_back(it->path());
  }
  return out;
}

void add_file(Leftovers& out, const fs::path& file) {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file, unknown);
  out.files.push_back(file);
  out.bytes += unknown ? 0 : size;
}

/// A board and its files; boards have no folders inside.
void add_board(Leftovers& out, const fs::path& board) {
  out.files.push_back(board);
  for (const fs::path& file : entries_of(board)) add_file(out, file);
}

bool owner_is_dead(const fs::path& board) {
  try {
    const auto owner = identity_from_json(read_text_file(board / "owner"));
    return owner && surely_dead(*owner);
  } catch (const StorageError&) {
    return false;
  }
}

/// True if neither the board nor a file of it has changed for long.
bool is_silent(const fs::path& board, fs::file_time_type now) {
  std::vector<fs::path> all = entries_of(board);
  all.push_back(board);
  return std::ranges::all_of(all, [now](const fs::path& file) {
    std::error_code gone;
    const fs::file_time_type changed = fs::last_write_time(file, gone);
    return !gone && now - changed >= kSilentBoard;
  });
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::symlink_status(path, unknown).type() == fs::file_type::directory;
}

void add_launch(Leftovers& out, const fs::path& launch) {
  const LeaseState lease = lease_state(launch);
  if (lease.generation == 0 || lease.kind == LeaseState::Kind::Held) return;
  for (const fs::path& entry : entries_of(launch)) {
    const std::string name = entry.filename().string();
    if (name == "current.json") add_file(out, entry);
    if (name.starts_with("board") && is_folder(entry)) add_board(out, entry);
  }
}

/// An order whose cell failed stays: the next run would try that cell again.
bool is_obeyed(const Store& store, const std::string& name) {
  if (!name.starts_with(kStopOrder)) return false;
  try {
    const CellOutcome cell = cell_outcome(store, name.substr(kStopOrder.size()));
    return cell.seal || cell.state.status == CellStatus::Cancelled;
  } catch (const UserError&) {
    return false;  // not a cell's id
  }
}

}  // namespace

Leftovers run_leftovers(const Store& store) {
  Leftovers out;
  const fs::file_time_type now = filesystem_time(store.root());
  for (const fs::path& board : entries_of(store.live_dir())) {
    if (is_folder(board) && (owner_is_dead(board) || is_silent(board, now))) add_board(out, board);
  }
  for (const fs::path& launch : entries_of(store.root() / "launches")) add_launch(out, launch);
  for (const fs::path& order : entries_of(store.orders_dir())) {
    if (is_obeyed(store, order.filename().string())) add_file(out, order);
  }
  std::ranges::sort(out.files);
  return out;
}

}  // namespace depthgrid
