#include "sweeps/report/run_summary.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace run_summary_test {

class RunSummaryTest : public ::testing::Test {
 protected:
  RunSummaryTest() {
    publish_plan(store_, sweep_);
    const StoredPlan plan = read_plan(store_);
    finish_cell(store_, plan, 0, 5);
    finish_cell(store_, plan, 1, 5, CellStatus::Diverged);
    store_.publish_failure(sweep_.cells[2].id, 1, CellStatus::Failed, R"({"message": "why"})");
  }

  TemporaryFolder folder_;
  Sweep sweep_ = synthetic_sweep({0.1, 0.2, 0.3, 0.4});
  Store store_ = Store::open_or_create(folder_.path() / "store");
};

TEST_F(RunSummaryTest, CountsTheCellsAndPacksThem) {
  const RunSummary summary = conclude_run(store_, sweep_, "store", true);

  EXPECT_EQ(summary.cells, 4);
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(summary.diverged, 1);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_TRUE(summary.problems.empty());
  EXPECT_TRUE(std::filesystem::exists(summary.file));
  EXPECT_EQ(summary_text(summary),
            "depthgrid: synthetic: 1 of 4 cells completed, 1 diverged, 1 failed, stopped: the same "
            "command resumes it; read them with: depthgrid results store (all records: " +
                summary.file + ")");
}

TEST_F(RunSummaryTest, TheRecordHasTheSameCounts) {
  const auto json = parse_json(summary_json(conclude_run(store_, sweep_, "store", false)));

  EXPECT_EQ(json["event"], "run_end");
  EXPECT_EQ(json["cells_total"], 4);
  EXPECT_EQ(json["completed"], 1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["stopped"], false);
}

TEST_F(RunSummaryTest, DamagedFilesOfOtherPlansAreSaidButNotCounted) {
  const Sweep smaller = synthetic_sweep({0.2, 0.3, 0.4});
  publish_plan(store_, smaller);
  std::ofstream(store_.cell_path(sweep_.cells[0].id) / "result.h5") << "?";

  const RunSummary summary = conclude_run(store_, smaller, "store", false);

  EXPECT_EQ(summary.damaged, 0) << "a run of this sweep cannot mend it, and status says so too";
  EXPECT_FALSE(summary.problems.empty());
}

}  // namespace run_summary_test
}  // namespace depthgrid
