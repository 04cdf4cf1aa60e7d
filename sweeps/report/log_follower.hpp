#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Log files of the workers that attempted a cell, in the order of the attempts, each once.
std::vector<std::filesystem::path> worker_log_files(const Store& store, const CellId& id);

/// Follows the log of the newest worker of a cell, and goes on with the next one's.
class LogFollower {
 public:
  /// @param store  outlives this. @param lines  of what is there already, at most.
  LogFollower(const Store& store, CellId id, std::size_t lines);

  /// What was written since the last call, as whole lines; before a file's first, its name.
  std::string more();

  /// True once the cell has a result, has failed or was cancelled: call more() once again.
  bool ended() const;

 private:
  const Store& store_;
  CellId id_;
  std::size_t lines_;
  std::filesystem::path file_;
  std::uintmax_t read_ = 0;  // bytes
};

}  // namespace depthgrid
