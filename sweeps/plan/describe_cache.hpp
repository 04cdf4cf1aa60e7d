#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Costs of structures from `depthgrid-worker describe`, cached per machine.
///
/// The key of an entry consists of the structure, the code version, the worker's file (size and
/// time of its last change) and the leaves that set the device and its threads. Entries that cannot
/// be read and folders that cannot be written are ignored.
class DescribeCache {
 public:
  /// @param folder  of this machine's entries, see default_cache_folder(); empty = keep nothing.
  DescribeCache(std::filesystem::path worker, std::filesystem::path folder);

  /// Costs of those structures of the cells that are in the cache; does not start the worker.
  CostTable known(const std::vector<CellPlan>& cells) const;

  /// Costs of every structure of the cells. One call of the worker describes all that are missing.
  /// @throws UserError (BadConfig) if the worker is absent or fails.
  CostTable costs(const std::vector<CellPlan>& cells) const;

  /// The same without times, which are zero: counts follow from the configuration alone, so that
  /// any number of structures is described quickly. @throws as costs()
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

/// Identifies a build. Two builds of one commit may differ, for example while sources are edited,
/// so that the size and time of the worker's file are added to the version.
std::string build_of(const std::filesystem::path& worker);

/// $XDG_CACHE_HOME/depthgrid/describe/HOST, or the same under ~/.cache; empty if there is neither.
std::filesystem::path default_cache_folder();

}  // namespace depthgrid
