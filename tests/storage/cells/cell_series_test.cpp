#include "storage/cells/cell_series.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/probed_cell.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_series_test {

using Numbers = std::vector<double>;

class CellSeriesOfAFile : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "result.h5"; }
  std::optional<CellSeries> series(const ProbedCell& cell, const std::string& metric) const {
    cell.publish(file());
    return read_cell_series(file(), "a", metric);
  }

  TemporaryFolder folder_;
};

/// Evaluations before training, at 10 and at 20; the split valid is the third of four.
ProbedCell evaluated() {
  ProbedCell out;
  out.axis("eval_step", {0, 10, 20}).axis("step", {10, 20});
  out.names("split", {"train", "dev", "valid", "test"});
  out.numbers("eval_loss", {kNaN, kNaN, 3, kNaN, 1, kNaN, 2.5, kNaN, kNaN, kNaN, kNaN, kNaN});
  return out.numbers("train_wall_time", {1.5, 4});
}

TEST_F(CellSeriesOfAFile, AreTheNumbersOfOneLabelWithTheirStepsAndSeconds) {
  const auto found = series(evaluated(), "eval_loss.valid");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, (Numbers{0, 10, 20}));
  EXPECT_EQ(found->values[0], 3);
  EXPECT_EQ(found->values[1], 2.5);
  EXPECT_TRUE(std::isnan(found->values[2]));
  EXPECT_EQ(found->seconds, (Numbers{0, 1.5, 4}));
  EXPECT_EQ(found->machines, "") << "no attempt is recorded";
}

TEST_F(CellSeriesOfAFile, PlacesThatNoEvaluationTookAreLeftOut) {
  ProbedCell cell;
  cell.axis("eval_step", {0, 10, -1}).names("split", {"train", "dev", "valid", "test"});
  cell.numbers("eval_loss", Numbers(12, 2));
  const auto found = series(cell, "eval_loss.valid");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, (Numbers{0, 10}));
  EXPECT_TRUE(std::isnan(found->seconds[0]) && std::isnan(found->seconds[1]))
      << "no time of training is recorded";
}

TEST_F(CellSeriesOfAFile, OtherMetricsHaveNone) {
  const ProbedCell cell = evaluated();
  for (const char* metric : {"eval_loss", "eval_loss.nowhere", "eval_accuracy.valid",
                             "final_loss.valid", "train_loss", "no_variable", ""}) {
    EXPECT_FALSE(series(cell, metric)) << metric;
  }
}

TEST_F(CellSeriesOfAFile, ACellKnowsItsMachines) {
  const Store store = Store::open_or_create(folder_.path() / "s");
  publish_plan(store, synthetic_sweep({1e-4, 1e-3}));
  const StoredPlan plan = read_plan(store);
  finish_cell(store, plan, 1, 12);
  const CellId& id = plan.cells[1].id;
  const auto found = read_cell_series(store.cell_path(id) / "result.h5", id, "eval_loss.valid");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps, (Numbers{5, 10}));
  EXPECT_EQ(found->values, (Numbers{synthetic_loss(1, 5) + 0.25, synthetic_loss(1, 10) + 0.25}));
  EXPECT_EQ(found->machines, "cpu, 2 cells");
}

TEST_F(CellSeriesOfAFile, ADamagedOrForeignFileIsAnError) {
  evaluated().publish(file());
  EXPECT_THROW(read_cell_series(file(), "b", "eval_loss.valid"), StorageError);
  auto bytes = read_file(file());
  bytes[bytes.size() / 2] ^= std::byte{1};
  overwrite(file(), bytes);
  EXPECT_THROW(read_cell_series(file(), "a", "eval_loss.valid"), StorageError);
  EXPECT_FALSE(read_cell_series(file(), "a", "train_loss")) << "refused before the file is opened";
}

}  // namespace cell_series_test
}  // namespace depthgrid
