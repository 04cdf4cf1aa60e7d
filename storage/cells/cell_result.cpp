#include "storage/cells/cell_result.hpp"

#include "core/base/clock.hpp"
#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

std::string only_text(const TableReader& reader, const fs::path& file, const char* name) {
  if (!reader.has(name)) {
    throw StorageError(file, std::string("lacks '") + name + "'", ExitCode::BadData);
  }
  const VariableColumn column = reader.read(name);
  if (column.items() != 1) {
    throw StorageError(file, "does not hold exactly one cell", ExitCode::BadData);
  }
  return column.text(0);
}

/// Seal of each cell's result as it was packed; empty if there is no sound packed file.
std::map<CellId, std::string> packed_seals(const fs::path& file, const Fs& disk) {
  std::map<CellId, std::string> out;
  try {
    if (!something_at(file, disk)) return out;
    const TableReader reader(file, disk);
    if (!reader.has("result_sha256")) return out;
    const VariableColumn cells = reader.read("cell"), seals = reader.read("result_sha256");
    for (std::size_t i = 0; i < cells.items(); ++i) out[cells.text(i)] = seals.text(i);
  } catch (const StorageError&) {  // who reads it says so
    out.clear();
  }
  return out;
}

}  // namespace

TableReader open_cell_file(const fs::path& file, const CellId& id, const std::string& changed,
                           const Fs& disk) {
  TableReader reader(file, disk);
  const std::string cell = only_text(reader, file, "cell");
  if (cell != id) {
    throw StorageError(file, "holds cell " + cell + " in the place of " + id, ExitCode::BadData);
  }
  if (!changed.empty() && only_text(reader, file, "cell_config") != changed) {
    throw StorageError(file, "is of another configuration than cell " + id + " of the plan",
                       ExitCode::BadData);
  }
  return reader;
}

ResultState result_state(const fs::path& file, const CellId& id, const Fs& disk) {
  try {
    if (!something_at(file, disk)) return {};
    open_cell_file(file, id, "", disk);
    return {ResultState::Kind::Sound, ""};
  } catch (const StorageError& error) {
    if (error.code() == ExitCode::NoInput) return {};  // gone meanwhile
    return {error.code() == ExitCode::BadData ? ResultState::Kind::Damaged
                                              : ResultState::Kind::Unreachable,
            error.what()};
  }
}

bool ResultChecks::is_packed(const fs::path& file, const CellId& id) {
  std::call_once(once_, [&] { packed_ = packed_seals(packed_file_, disk_); });
  const auto row = packed_.find(id);
  if (row == packed_.end() || row->second.empty()) return false;
  try {
    return hex(verify_sealed_file(file, disk_).digest) == row->second;
  } catch (const StorageError&) {
    return false;  // the caller finds out what is wrong
  }
}

ResultState ResultChecks::state(const fs::path& file, const CellId& id) {
  const auto [about, unknown] = disk_.facts(file, Links::Stay);
  if (means_absent(unknown)) return {};
  const Stamp before = {about.device, about.inode, about.size, about.modified, about.changed};
  {
    const std::lock_guard lock(mutex_);
    const auto none = disregarded_.find(id);
    if (none != disregarded_.end()) return {ResultState::Kind::Damaged, none->second};
    const auto known = sound_.find(id);
    if (known != sound_.end() && known->second == before) return {ResultState::Kind::Sound, ""};
  }
  ResultState out = is_packed(file, id) ? ResultState{ResultState::Kind::Sound, ""}
                                        : result_state(file, id, disk_);
  const std::lock_guard lock(mutex_);
  // Times of files are coarse: one that was just written may be replaced without showing it.
  constexpr double kUnchanged = 2;  // s
  const bool unchanged = unix_time() - unix_seconds(before.changed) > kUnchanged;
  if (out.kind == ResultState::Kind::Sound && unchanged) sound_[id] = before;
  return out;
}

void ResultChecks::disregard(const CellId& id, std::string why) {
  const std::lock_guard lock(mutex_);
  disregarded_.insert_or_assign(id, std::move(why));
}

}  // namespace depthgrid
