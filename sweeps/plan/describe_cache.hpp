#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Costs of structures, asked of `depthgrid-worker describe` once and kept per machine.
///
/// The key of an entry is the structure, the code version, the worker's file (size and time of its
/// last change) and the leaves that set the device and its threads. Entries that cannot be read, or
/// folders that cannot be written, are as good as absent.
class DescribeCache {
 public:
  /// @param folder  of this machine's entries, see default_cache_folder(); empty = keep nothing.
  DescribeCache(std::filesystem::path worker, std::filesystem::path folder);

  /// Costs of the structures among the cells that were described before; the worker is not asked.
  CostTable known(const std::vector<CellPlan>& cells) const;

  /// Costs of every structure among the cells. One call of the worker answers all that are missing.
  /// @throws UserError (BadConfig) if the worker is absent or fails.
  CostTable costs(const std::vector<CellPlan>& cells) const;

  /// The same without times, which are zero: counts follow from the configuration alone, so any
  /// number of structures is answered at once. @throws as costs()
  CostTable counts(const std::vector<CellPlan>& cells) const;

  /// counts() with the name and shape of every parameter. @throws as costs()
  CostTable tensors(const std::vector<CellPlan>& cells) const;

 private:
  enum class Detail : std::uint8_t { Counts, Times, Tensors };
  CostTable kept(const std::vector<CellPlan>& cells, Detail detail) const;
  CostTable answer(const std::vector<CellPlan>& cells, Detail detail) const;
  std::filesystem::path entry(const CellPlan& cell, Detail detail) const;

  std::filesystem::path worker_;
  std::filesystem::path folder_;
  std::string build_;
};

/// What tells builds apart: two of one commit may differ, for example while somebody edits the
/// sources, so the version is joined by size and time of the worker's file.
std::string build_of(const std::filesystem::path& worker);

/// $XDG_CACHE_HOME/depthgrid/describe/HOST, or that under ~/.cache; empty if there is neither.
std::filesystem::path default_cache_folder();

}  // namespace depthgrid
