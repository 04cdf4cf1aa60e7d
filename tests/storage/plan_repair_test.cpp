#include "storage/plan_repair.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/plan_sequence.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace plan_repair_test {

namespace fs = std::filesystem;

class PlanRepair : public ::testing::Test {
 protected:
  PlanRepair() {
    publish_plan(store_, sweep("[1e-3, 2e-3]"));
    store_.cell_dir(read_plan(store_).cells[1].id);  // somebody has begun to train it
    publish_plan(store_, sweep("[1e-3, 3e-3]"));
  }

  Sweep sweep(const std::string& rates) const {
    return files_.load("data: {corpus: synthetic:markov}\nparameters: {train.lr: " + rates + "}\n");
  }
  std::vector<CellId> ids() const {
    std::vector<CellId> out;
    for (const StoredCell& cell : read_plan(store_).cells) out.push_back(cell.id);
    return out;
  }

  SweepFiles files_;
  TemporaryFolder folder_;
  Store store_ = Store::open_or_create(folder_.path() / "s");
};

TEST_F(PlanRepair, SoundPlansStayAsTheyAre) {
  EXPECT_TRUE(repair_plans(store_).empty());
}

TEST_F(PlanRepair, DamagedAndLostPlansAreWrittenAnewFromTheirSweepFiles) {
  const std::vector<CellId> before = ids();
  ASSERT_EQ(before.size(), 3U);
  for (const std::int64_t number : {1, 2}) {
    for (const bool gone : {false, true}) {
      const fs::path file = store_.plan_file(number);
      if (gone && number == 2) continue;  // then there is only one plan
      if (gone) {
        fs::remove(file);
      } else {
        fs::resize_file(file, 700);
      }
      const auto done = repair_plans(store_);
      ASSERT_EQ(done.size(), 1U);
      EXPECT_NE(done[0].find("it is written anew from"), std::string::npos) << done[0];
      EXPECT_EQ(ids(), before);
      EXPECT_TRUE(read_plan(store_).damages.empty());
      EXPECT_TRUE(repair_plans(store_).empty());
    }
  }
  EXPECT_TRUE(fs::exists(store_.root() / "plan.h5.damaged-1"));
  EXPECT_TRUE(fs::exists(store_.root() / "plan-2.h5.damaged-1"));
}

TEST_F(PlanRepair, WithoutItsSweepFileAPlanIsLostAndThatIsSaid) {
  fs::resize_file(store_.plan_file(1), 700);
  fs::remove(store_.sweep_yaml(1));
  const auto done = repair_plans(store_);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_NE(done[0].find("it cannot be written anew"), std::string::npos) << done[0];
  EXPECT_EQ(ids().size(), 2U);
  EXPECT_EQ(read_plan(store_).damages.size(), 1U);
}

}  // namespace plan_repair_test
}  // namespace depthgrid
