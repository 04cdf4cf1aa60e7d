#include "storage/cells/partial_series.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/axis_labels.hpp"
#include "storage/columns/variables.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace partial_series_test {

/// The label of which write_attempt() makes up numbers.
std::string known_metric() {
  const std::vector<std::string> axes = axes_of(*find_variable("eval_loss"));
  return "eval_loss." + std::string(labels_of(dimension(axes.back()))[2]);
}

TEST(PartialSeries, ACellHasTheEvaluationsThatItsJournalsHave) {
  const TemporaryFolder scratch;
  const std::filesystem::path folder = scratch.path() / "0123456789ab";
  std::filesystem::create_directories(folder);
  EXPECT_FALSE(read_partial_series(folder, known_metric()).has_value()) << "no journal yet";
  write_attempt(folder, 0, 1, 0, 12, false);
  const auto series = read_partial_series(folder, known_metric());
  ASSERT_TRUE(series.has_value());
  EXPECT_EQ(series->steps, (std::vector<double>{5, 10}));
  EXPECT_EQ(series->values,
            (std::vector<double>{synthetic_loss(0, 5) + 0.25, synthetic_loss(0, 10) + 0.25}));
  EXPECT_EQ(series->seconds.size(), 2U);
  write_attempt(folder, 0, 2, 10, 16, false);  // resumed
  EXPECT_EQ(read_partial_series(folder, known_metric())->steps, (std::vector<double>{5, 10, 15}));
}

TEST(PartialSeries, OfAnotherMetricThereIsNone) {
  const TemporaryFolder scratch;
  const std::filesystem::path folder = scratch.path() / "0123456789ab";
  std::filesystem::create_directories(folder);
  write_attempt(folder, 0, 1, 0, 12, false);
  for (const char* metric : {"eval_loss", "eval_loss.nowhere", "train_loss", "eval_accuracy", ""}) {
    EXPECT_FALSE(read_partial_series(folder, metric).has_value()) << metric;
  }
}

}  // namespace partial_series_test
}  // namespace depthgrid
