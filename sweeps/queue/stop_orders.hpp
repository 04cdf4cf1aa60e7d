#pragma once

#include <cstddef>
#include <vector>

#include "core/base/cell.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The orders to stop cells of one job, as its owner sees them.
class StopOrders {
 public:
  /// @param store  outlives this.
  StopOrders(const Store& store, std::vector<CellId> cells);

  /// Cells that have an order, as indices. One stat(), unless the folder of orders has changed.
  std::vector<std::size_t> poll();

 private:
  const Store& store_;
  std::vector<CellId> cells_;
  FileTime changed_{};
  int polls_left_ = 0;
};

}  // namespace depthgrid
