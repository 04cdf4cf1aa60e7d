#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/processes.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/plan/answer_cache.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// What is asked about a structure.
enum class CostDetail : std::uint8_t {
  Times,   // counts, and times on the device and threads of the structure's first cell
  Counts,  // times are zero: counts follow from the configuration alone, so that any number of
           // structures is described quickly
  Tensors  // counts, and the name and shape of every parameter
};

/// Costs of structures from `depthgrid-worker describe`, cached per machine.
class DescribeCache {
 public:
  /// Of the worker beside this program, in the user's cache.
  DescribeCache();
  /// @param folder  of this machine's entries; empty = keep nothing.
  DescribeCache(std::filesystem::path worker, std::filesystem::path folder,
                const Processes& processes = real_processes());

  /// Costs of those structures of the cells that are in the cache; does not start the worker.
  CostTable known(const std::vector<CellPlan>& cells, CostDetail detail = CostDetail::Times) const;

  /// Costs of every structure of the cells. One call of the worker describes all that are missing.
  /// @throws UserError (BadConfig) if the worker is absent or fails.
  CostTable costs(const std::vector<CellPlan>& cells, CostDetail detail = CostDetail::Times) const;

  /// Times where this machine has measured them, else counts.
  /// @throws UserError (BadConfig) as costs().
  CostTable known_or_counted(const std::vector<CellPlan>& cells) const;

 private:
  std::filesystem::path worker_;
  AnswerCache answers_;
  const Processes& processes_;
};

}  // namespace depthgrid
