#pragma once

#include <cstddef>
#include <vector>

#include "core/base/cell.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The requests to stop cells of one job, as its owner sees them.
class StopRequests {
 public:
  /// @param store  outlives this.
  StopRequests(const Store& store, std::vector<CellId> cells);

  /// Cells that have a request, as indices. One stat(), unless the folder of requests has changed.
  std::vector<std::size_t> poll();

 private:
  const Store& store_;
  std::vector<CellId> cells_;
  FileTime changed_{};
  int polls_left_ = 0;
};

}  // namespace depthgrid
