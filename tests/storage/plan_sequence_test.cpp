#include "storage/plan_sequence.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/error.hpp"
#include "storage/cells/summary.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/folder_watch.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace plan_sequence_test {

namespace fs = std::filesystem;

/// One leaf; GCC 12 mistakes braced lists of values for uninitialised memory.
ValueMap leaf(const std::string& path, const char* json) {
  ValueMap out;
  out.emplace_back(path, value_from_json(json));
  return out;
}

Sweep named(const std::string& text, Sweep sweep) {
  sweep.yaml = text;
  return sweep;
}

std::vector<std::string> aliases(const StoredPlan& plan) {
  std::vector<std::string> out;
  for (const StoredCell& cell : plan.cells) out.push_back(cell.alias);
  return out;
}

/// Flags of the cells of the newest plan.
std::vector<bool> newest(const StoredPlan& plan) {
  std::vector<bool> out;
  for (const StoredCell& cell : plan.cells) out.push_back(in_newest_plan(plan, cell));
  return out;
}

using Names = std::vector<std::string>;

class PlanSequence : public ::testing::Test {
 protected:
  fs::path file(const char* name) const { return store_.root() / name; }
  std::string text(const char* name) const { return read_text_file(file(name)); }
  /// As if somebody had begun to train it.
  void touch(const Sweep& sweep, std::size_t row) const { store_.cell_dir(sweep.cells[row].id); }

  TemporaryFolder folder_;
  Store store_ = Store::open_or_create(folder_.path() / "s");
};

TEST_F(PlanSequence, AStoreWithoutAPlanSaysSo) {
  EXPECT_FALSE(has_plan(store_));
  EXPECT_THROW(read_plan(store_), StorageError);
}

TEST_F(PlanSequence, TheSameSweepAgainPublishesNothing) {
  EXPECT_EQ(publish_plan(store_, synthetic_sweep({1e-4, 1e-3})).generation, 1);
  const auto before = peek_seal(store_.plan_file())->digest;
  // A comment was changed, or the file has another name now.
  Sweep again = named("# other\nname: synthetic\n", synthetic_sweep({1e-4, 1e-3}));
  again.file = "elsewhere.yaml";

  EXPECT_EQ(publish_plan(store_, again).generation, 1);

  EXPECT_EQ(peek_seal(store_.plan_file())->digest, before);
  EXPECT_FALSE(fs::exists(file("plan-2.h5")));
}

TEST_F(PlanSequence, MoreSeedsAreASecondPlanWithAllCells) {
  publish_plan(store_, synthetic_sweep({1e-4, 1e-3}, 1));

  EXPECT_EQ(publish_plan(store_, synthetic_sweep({1e-4, 1e-3}, 2)).generation, 2);

  const StoredPlan plan = read_plan(store_);
  EXPECT_EQ(aliases(plan), (Names{"lr=1e-4,s0", "lr=1e-4,s1", "lr=0.001,s0", "lr=0.001,s1"}));
  EXPECT_EQ(newest(plan), (std::vector<bool>{true, true, true, true}));
  EXPECT_TRUE(fs::exists(file("plan-2.h5")));
}

TEST_F(PlanSequence, CellsThatTheNewestPlanLacksStayOnceTheyWereTried) {
  const Sweep first = synthetic_sweep({1e-4, 1e-3});
  const Sweep second = synthetic_sweep({1e-4, 1e-2});
  publish_plan(store_, first);
  publish_plan(store_, second);
  EXPECT_EQ(read_plan(store_).cells.size(), 2U) << "nothing was trained: replaced silently";

  touch(first, 1);

  const StoredPlan plan = read_plan(store_);
  EXPECT_EQ(aliases(plan), (Names{"lr=1e-4,s0", "lr=0.01,s0", "lr=0.001,s0"}));
  EXPECT_EQ(newest(plan), (std::vector<bool>{true, true, false}));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(resolved_json(plan, plan.cells[i]), second.cells[i].config.json());
  }
  EXPECT_EQ(resolved_json(plan, plan.cells[2]), first.cells[1].config.json());
}

TEST_F(PlanSequence, LeavesOfRunAndObservationMakeANewPlanOfTheSameCells) {
  const Sweep few = synthetic_sweep({1e-4}, 1, leaf("resources.threads", "1"));
  const Sweep many = synthetic_sweep({1e-4}, 1, leaf("resources.threads", "2"));
  ASSERT_EQ(few.cells[0].id, many.cells[0].id);
  publish_plan(store_, few);
  touch(few, 0);

  EXPECT_EQ(publish_plan(store_, many).generation, 2);

  const StoredPlan plan = read_plan(store_);
  ASSERT_EQ(plan.cells.size(), 1U);
  EXPECT_EQ(resolved_json(plan, plan.cells[0]), many.cells[0].config.json());
}

TEST_F(PlanSequence, AnEarlierPlanBecomesTheNewestAgainUnderAnotherName) {
  const Sweep a = synthetic_sweep({1e-4});
  const Sweep b = synthetic_sweep({1e-3});
  publish_plan(store_, a);
  publish_plan(store_, b);
  touch(a, 0);
  touch(b, 0);

  EXPECT_EQ(publish_plan(store_, a).generation, 3);

  EXPECT_EQ(fs::hard_link_count(file("plan-3.h5")), 2U) << "one file, two names";
  const StoredPlan plan = read_plan(store_);
  EXPECT_EQ(aliases(plan), (Names{"lr=1e-4,s0", "lr=0.001,s0"}));
  EXPECT_EQ(newest(plan), (std::vector<bool>{true, false}));
  EXPECT_EQ(plan.cells[1].generation, 2);
}

TEST_F(PlanSequence, AnArmThatIsAnotherNowIsNotMixedWithItsNamesake) {
  const Sweep shorter = synthetic_sweep({1e-4}, 2, leaf("train.steps", "20"));
  const Sweep longer = synthetic_sweep({1e-4}, 1, leaf("train.steps", "60"));
  publish_plan(store_, shorter);
  for (const std::size_t row : {0, 1}) touch(shorter, row);
  publish_plan(store_, longer);

  const StoredPlan plan = read_plan(store_);

  EXPECT_EQ(aliases(plan), (Names{"lr=1e-4,s0", "lr=1e-4@1,s0", "lr=1e-4@1,s1"}));
  EXPECT_EQ(plan.cells[1].arm, "lr=1e-4@1");
}

TEST_F(PlanSequence, AnArmWithFewerSeedsKeepsItsName) {
  const Sweep two = synthetic_sweep({1e-4}, 2);
  publish_plan(store_, two);
  touch(two, 1);
  publish_plan(store_, synthetic_sweep({1e-4}, 1));

  const StoredPlan plan = read_plan(store_);

  EXPECT_EQ(aliases(plan), (Names{"lr=1e-4,s0", "lr=1e-4,s1"}));
  EXPECT_EQ(plan.cells[1].arm, "lr=1e-4");
}

TEST_F(PlanSequence, TheSweepFileIsThatOfTheNewestPlanAndTheOthersStay) {
  publish_plan(store_, named("name: a\n", synthetic_sweep({1e-4})));
  EXPECT_EQ(text("sweep.yaml"), "name: a\n");
  publish_plan(store_, named("name: b\n", synthetic_sweep({1e-3})));

  EXPECT_EQ(text("sweep.yaml"), "name: b\n");
  EXPECT_EQ(text("sweep-1.yaml"), "name: a\n");
}

TEST_F(PlanSequence, IfAPublisherDiesBetweenPlanAndTextTheNextOnePublishesTheText) {
  const Sweep second = named("name: b\n", synthetic_sweep({1e-3}));
  publish_plan(store_, named("name: a\n", synthetic_sweep({1e-4})));
  ASSERT_TRUE(publish_plan_file(store_.plan_file(2), stored_plan(second)));

  publish_plan(store_, second);

  EXPECT_EQ(newest_plan(store_), 2);
  EXPECT_EQ(text("sweep.yaml"), "name: b\n");
  EXPECT_EQ(text("sweep-1.yaml"), "name: a\n");
}

TEST_F(PlanSequence, TwoSweepsAtTheSameMomentAreTwoPlans) {
  Store other = Store::open_or_create(folder_.path() / "other");
  publish_plan(other, named("name: a\n", synthetic_sweep({1e-4})));
  // The first sweep's plan comes as soon as the other one has begun to write.
  const FolderWatch watch(store_.root(), DN_CREATE, [&] {
    std::error_code done_before;
    fs::rename(other.plan_file(), store_.plan_file(), done_before);
  });
  if (!watch.works()) GTEST_SKIP() << "this kernel does not signal changes of a folder";

  const StoredPlan mine = publish_plan(store_, named("name: b\n", synthetic_sweep({1e-3})));

  EXPECT_EQ(mine.generation, 2);
  EXPECT_EQ(read_plan_file(store_.plan_file(1), 1).yaml, "name: a\n");
  EXPECT_EQ(text("sweep.yaml"), "name: b\n");
  EXPECT_EQ(text("sweep-1.yaml"), "name: a\n");
}

TEST_F(PlanSequence, OfTwoEqualSweepsAtTheSameMomentOneIsPublished) {
  Store other = Store::open_or_create(folder_.path() / "other");
  publish_plan(other, synthetic_sweep({1e-4}));
  const FolderWatch watch(store_.root(), DN_CREATE, [&] {
    std::error_code done_before;
    fs::rename(other.plan_file(), store_.plan_file(), done_before);
  });
  if (!watch.works()) GTEST_SKIP() << "this kernel does not signal changes of a folder";

  EXPECT_EQ(publish_plan(store_, synthetic_sweep({1e-4})).generation, 1);
  EXPECT_FALSE(fs::exists(file("plan-2.h5")));
}

TEST_F(PlanSequence, ADamagedEarlierPlanHidesOnlyItsOwnCells) {
  const Sweep first = synthetic_sweep({1e-4, 1e-3});
  publish_plan(store_, first);
  touch(first, 1);
  publish_plan(store_, synthetic_sweep({1e-4}));
  fs::resize_file(store_.plan_file(1), 700);

  EXPECT_EQ(read_plan(store_).cells.size(), 1U);
  EXPECT_EQ(read_plan(store_).damages.size(), 1U);
  fs::remove(store_.plan_file(1));
  ASSERT_EQ(read_plan(store_).damages.size(), 1U);
  EXPECT_NE(read_plan(store_).damages[0].find("plan.h5: is gone"), std::string::npos);

  fs::resize_file(store_.plan_file(2), 700);
  EXPECT_THROW(read_plan(store_), UserError);
}

TEST_F(PlanSequence, APlanThatCannotBeReadIsAMissingInput) {
  publish_plan(store_, synthetic_sweep({1e-4}));
  std::filesystem::remove(store_.plan_file());
  ASSERT_EQ(mknod(store_.plan_file().c_str(), S_IFSOCK | 0600, 0), 0);  // open() fails on it
  try {
    read_plan(store_);
    FAIL() << "a socket is no plan";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::NoInput) << e.what();
    EXPECT_NE(std::string(e.what()).find("plan.h5: cannot open"), std::string::npos) << e.what();
  }
}

TEST_F(PlanSequence, APlanOfAnEarlierVersionLacksLeavesAndIsTheSame) {
  StoredPlan before = stored_plan(synthetic_sweep({1e-4, 1e-3}));
  std::erase_if(before.constant, [](const auto& entry) {
    return entry.first == "retry.oom" || entry.first == "retry.crash";
  });
  before.sources = "[]";
  ASSERT_TRUE(publish_plan_file(store_.plan_file(), before));

  EXPECT_EQ(publish_plan(store_, synthetic_sweep({1e-4, 1e-3})).generation, 1);
  EXPECT_EQ(
      publish_plan(store_, synthetic_sweep({1e-4, 1e-3}, 1, leaf("retry.crash", "9"))).generation,
      2);
}

TEST_F(PlanSequence, SummariesSayWhichPlanACellIsOf) {
  const Sweep first = synthetic_sweep({1e-4, 1e-3});
  publish_plan(store_, first);
  finish_cell(store_, read_plan(store_), 1, 5);
  publish_plan(store_, synthetic_sweep({1e-4}));

  const std::vector<CellSummary> cells = summarise(store_, read_plan(store_));

  ASSERT_EQ(cells.size(), 2U);
  EXPECT_TRUE(cells[0].in_plan);
  EXPECT_FALSE(cells[1].in_plan);
  EXPECT_EQ(cells[1].plan, 1);
  EXPECT_EQ(cells[1].status, CellStatus::Completed);
}

TEST_F(PlanSequence, ASweepFileShowsItsOwnCellsFirst) {
  const Sweep mine = synthetic_sweep({1e-4, 1e-3});
  const Sweep theirs = synthetic_sweep({1e-4, 1e-2});
  publish_plan(store_, mine);
  touch(mine, 1);
  publish_plan(store_, theirs);

  const StoredPlan plan = read_plan(store_, mine);

  EXPECT_EQ(aliases(plan), (Names{"lr=1e-4,s0", "lr=0.001,s0", "lr=0.01,s0"}));
  EXPECT_EQ(newest(plan), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(aliases(read_plan(store_, theirs)), aliases(read_plan(store_)));
}

}  // namespace plan_sequence_test
}  // namespace depthgrid
