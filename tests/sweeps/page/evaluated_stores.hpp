#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/nan.hpp"
#include "storage/store.hpp"
#include "tests/storage/probed_cell.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {

/// A listing over stores, whose cells have the learning curves that a test makes up.
class EvaluatedStores {
 public:
  /// @param names  of the folders; of one, it is a listing of one store.
  explicit EvaluatedStores(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      stores_.push_back(Store::open_or_create(folder_.path() / name));
      if (names.size() > 1) cells.listing.stores.push_back(stores_.back().root().string());
    }
    cells.listing.store = stores_.front().root().string();
  }

  /// A cell with evaluations of eval_loss.valid; the last one is its final loss.
  CellSummary& add(std::size_t store, const std::string& arm, std::int64_t seed,
                   const std::vector<double>& steps, const std::vector<double>& values,
                   const std::string& device = "CPU") {
    CellSummary& cell = cells.add({}, seed, values.back(), arm);
    cell.id = fmt::format("{:012x}", cells.listing.cells.size());
    cell.parameters = 1000;
    if (!cells.listing.stores.empty()) cells.listing.store_of_cell.push_back(store);
    ProbedCell file(cell.id);
    std::vector<double> losses;
    for (const double value : values) losses.insert(losses.end(), {kNaN, kNaN, value, kNaN});
    file.axis("eval_step", steps).names("split", {"train", "dev", "valid", "test"});
    file.numbers("eval_loss", losses);
    file.axis("attempt", {0}).names("job", {"j"});
    file.text("attempt_device", device).text("attempt_job", "j").numbers("job_cells", {1});
    file.publish(stores_[store].cell_path(cell.id) / "result.h5");
    return cell;
  }

  const Store& store(std::size_t i) const { return stores_[i]; }

  GridCells cells;

 private:
  TemporaryFolder folder_;
  std::vector<Store> stores_;
};

}  // namespace depthgrid
