#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "storage/store.hpp"
#include "tests/storage/probed_cell.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {

/// A listing over a store whose cells have results that a test makes up.
class ProbedGrid {
 public:
  /// Of the cell in a row of the listing: what its probes saw.
  using SeenAt = std::function<void(ProbedCell& cell, std::size_t row)>;

  ProbedGrid(std::size_t arms, std::size_t seeds, const SeenAt& seen,
             const std::string& prefix = "arm ")
      : store_(Store::open_or_create(folder_.path() / "grid")) {
    for (std::size_t arm = 0; arm < arms; ++arm) {
      std::vector<double> figures;
      for (std::size_t s = 0; s < seeds; ++s) {
        figures.push_back(2 - 0.1 * static_cast<double>(arm) + 0.01 * static_cast<double>(s));
      }
      cells_.arm(prefix + std::to_string(arm), figures);
    }
    cells_.listing.store = store_.root().string();
    for (std::size_t row = 0; row < cells_.listing.cells.size(); ++row) {
      CellSummary& cell = cells_.listing.cells[row];
      cell.id = fmt::format("{:012x}", row + 1);
      ProbedCell probed(cell.id);
      seen(probed, row);
      probed.publish(result_of(row));
    }
  }

  std::filesystem::path result_of(std::size_t row) const {
    return store_.cell_path(cells_.listing.cells[row].id) / "result.h5";
  }
  Listing& listing() { return cells_.listing; }

 private:
  TemporaryFolder folder_;
  Store store_;
  GridCells cells_;
};

}  // namespace depthgrid
