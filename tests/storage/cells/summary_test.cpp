#include "storage/cells/summary.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "storage/columns/table_reader.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/pack/pack.hpp"
#include "storage/pack/pack_sources.hpp"
#include "tests/storage/folder_watch.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace summary_test {

class Summary : public testing::Test {
 protected:
  Summary() : store_(Store::open_or_create(folder_.path() / "s")) {
    publish_plan(store_, synthetic_sweep({1e-4, 1e-3, 1e-2}));
    plan_ = read_plan(store_);
  }

  TemporaryFolder folder_;
  Store store_;
  StoredPlan plan_;
};

TEST_F(Summary, MetricsAreNamedByVariableAndSplit) {
  finish_cell(store_, plan_, 1, 12);

  std::vector<std::size_t> read;
  const CellSummary cell = summarise(store_, plan_, [&](std::size_t n, std::size_t all) {
    EXPECT_EQ(all, plan_.cells.size());
    read.push_back(n);
  })[1];
  EXPECT_EQ(read.size(), plan_.cells.size()) << "told of each cell";

  EXPECT_EQ(cell.status, CellStatus::Completed);
  EXPECT_EQ(cell.step, 12);
  EXPECT_EQ(cell.parameters, 4902912);
  EXPECT_EQ(cell.attempts, 1);
  EXPECT_EQ(cell.host, "node1");
  EXPECT_EQ(plain_text(cell.overrides.at(0).second), "0.001");
  EXPECT_EQ(cell.metrics.at("train_loss"), synthetic_loss(1, 12));
  EXPECT_EQ(cell.metrics.at("eval_loss.valid"), synthetic_loss(1, 10) + 0.25);
  EXPECT_EQ(cell.metrics.at("final_loss.valid"), 2.5);
  EXPECT_EQ(cell.metrics.at("train_loss_last50"), 2.5);
  EXPECT_EQ(cell.metrics.at("cost_wall_time"), 12.5);
  EXPECT_FALSE(cell.metrics.contains("eval_loss.train")) << "an absent number has no entry";
}

TEST_F(Summary, WhatMetricsAreOfStandsBesideThem) {
  finish_cell(store_, plan_, 1, 12);
  const CellSummary cell = summarise(store_, plan_)[1];
  const std::map<std::string, double> expected = {{"split_bytes.valid", 4096},
                                                  {"split_digest.valid", 281474976710655.0}};
  EXPECT_EQ(cell.facts, expected) << "48 bits are exact";
  EXPECT_FALSE(cell.metrics.contains("split_bytes.valid"));
}

TEST_F(Summary, IsTheSameFromThePackedFile) {
  finish_cell(store_, plan_, 0, 20);
  finish_cell(store_, plan_, 1, 12, CellStatus::Diverged);
  const std::vector<CellSummary> before = summarise(store_, plan_);
  pack(store_);
  for (std::size_t i = 0; i < 2; ++i) {  // only the seals of the results are looked at
    std::filesystem::resize_file(store_.cell_dir(plan_.cells[i].id) / "result.h5", 512);
  }

  const std::vector<CellSummary> after = summarise(store_, plan_);

  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after[i].metrics, before[i].metrics);
    EXPECT_EQ(after[i].facts, before[i].facts);
    EXPECT_EQ(after[i].step, before[i].step);
    EXPECT_EQ(after[i].status, before[i].status);
    EXPECT_EQ(after[i].parameters, before[i].parameters);
    EXPECT_EQ(after[i].attempts, before[i].attempts);
  }
  EXPECT_EQ(after[1].status, CellStatus::Diverged);
}

TEST_F(Summary, NoDamagedByteOfThePackedFileIsShown) {
  finish_cell(store_, plan_, 0, 20);
  const auto before = summarise(store_, plan_)[0].metrics;
  pack(store_);
  const auto whole = read_file(store_.packed_file());
  for (std::size_t at = 5; at < whole.size(); at += whole.size() / 60) {
    auto damaged = whole;
    damaged[at] ^= std::byte{64};
    overwrite(store_.packed_file(), damaged);
    EXPECT_EQ(summarise(store_, plan_)[0].metrics, before) << "byte " << at;
  }
}

TEST_F(Summary, ARowOfThePackedFileOutlivesItsResult) {
  finish_cell(store_, plan_, 0, 20);
  pack(store_);
  const CellSummary before = summarise(store_, plan_)[0];
  const auto result = store_.cell_dir(plan_.cells[0].id) / "result.h5";
  const auto whole = read_file(result);
  const std::vector<std::function<void()>> damages = {
      [&] {
        auto head = whole;
        head[70] ^= std::byte{1};
        overwrite(result, head);
      },
      [&] { overwrite(result, {}); },
      [&] { std::filesystem::create_symlink("nowhere", result); },
      [&] { std::filesystem::create_directory(result); },
      [&] {},
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    std::filesystem::remove(result);
    damages[i]();
    for (int again = 0; again < 2; ++again) {
      const CellSummary row = summarise(store_, plan_)[0];
      EXPECT_EQ(row.status, CellStatus::Completed) << i;
      EXPECT_EQ(row.metrics, before.metrics) << i;
      EXPECT_NE(row.damage.find("result.h5"), std::string::npos) << row.damage;
      const PackReport packed = pack(store_);  // keeps the row, too
      EXPECT_EQ(packed.finished, 1) << i;
      EXPECT_FALSE(packed.problems.empty()) << i;  // also that it is gone
    }
  }
}

TEST_F(Summary, TheResultOfAnotherCellIsNotShown) {
  finish_cell(store_, plan_, 0, 20);
  finish_cell(store_, plan_, 1, 20);
  const auto result = store_.cell_dir(plan_.cells[0].id) / "result.h5";
  overwrite(result, read_file(store_.cell_dir(plan_.cells[1].id) / "result.h5"));

  const std::vector<CellSummary> cells = summarise(store_, plan_);

  EXPECT_EQ(cells[0].status, CellStatus::Pending);
  EXPECT_NE(cells[0].damage.find("holds cell " + plan_.cells[1].id), std::string::npos);
  EXPECT_EQ(cells[1].status, CellStatus::Completed);
  EXPECT_EQ(pack(store_).problems.size(), 1U);
  EXPECT_EQ(TableReader(store_.packed_file()).read("cell_status").integer(0), 0);
}

TEST_F(Summary, DamagedRecordsOfAnUnfinishedCellAreSaid) {
  const auto folder = store_.cell_dir(plan_.cells[2].id);
  write_attempt(folder, 2, 1, 0, 7, false);
  EXPECT_EQ(summarise(store_, plan_)[2].damage, "");
  auto bytes = read_file(folder / "journal-000001");
  bytes[bytes.size() / 2] ^= std::byte{1};
  overwrite(folder / "journal-000001", bytes);

  EXPECT_NE(summarise(store_, plan_)[2].damage.find("journal-000001: is damaged after step"),
            std::string::npos);
}

TEST_F(Summary, AnInterruptedCellIsPendingWithItsAttempts) {
  write_attempt(store_.cell_dir(plan_.cells[2].id), 2, 1, 0, 7, false);

  const std::vector<CellSummary> cells = summarise(store_, plan_);

  EXPECT_EQ(cells[0].status, CellStatus::Pending);
  EXPECT_EQ(cells[0].attempts, 0);
  EXPECT_TRUE(cells[0].metrics.empty());
  EXPECT_EQ(cells[2].status, CellStatus::Pending);
  EXPECT_EQ(cells[2].attempts, 1);
  EXPECT_EQ(cells[2].step, 7);
  EXPECT_EQ(cells[2].metrics.at("train_loss"), synthetic_loss(2, 7));
}

TEST_F(Summary, ACellWithALiveLeaseIsRunning) {
  LeaseKeeper keeper;
  const auto folder = store_.cell_dir(plan_.cells[0].id);
  const auto lease = keeper.try_acquire(folder);
  ASSERT_TRUE(lease.has_value());
  write_attempt(folder, 0, lease->generation(), 0, 3, false);

  const std::vector<CellSummary> cells = summarise(store_, plan_);

  EXPECT_EQ(cells[0].status, CellStatus::Running);
  EXPECT_EQ(cells[0].step, 3);
}

TEST_F(Summary, ACellThatFinishesMeanwhileIsNotPending) {
  const auto cell = store_.cell_dir(plan_.cells[0].id);
  LeaseKeeper keeper;
  keeper.try_acquire(cell)->release();
  finish_cell(store_, plan_, 0, 10);
  const auto moved = folder_.path() / "result.h5";
  const auto finish = [&] { std::filesystem::rename(moved, cell / "result.h5"); };
  std::filesystem::rename(cell / "result.h5", moved);
  int reads = 0;
  // The first thing that is read there is the claim: by then nobody has found a result.
  const FolderWatch watch(cell, DN_ACCESS, [&] {
    if (reads++ == 0) finish();
  });
  if (!watch.works()) GTEST_SKIP() << "this kernel does not signal what is read in a folder";

  EXPECT_EQ(summarise(store_, plan_)[0].status, CellStatus::Completed);
  EXPECT_GT(reads, 0);
  std::filesystem::rename(cell / "result.h5", moved);
  reads = 0;
  EXPECT_EQ(gather_sources(store_, plan_).cells[0].kind, CellSource::Kind::File);
  EXPECT_GT(reads, 0);
}

TEST_F(Summary, AFailureIsNamedUntilTheCellIsTriedAgain) {
  const CellId id = plan_.cells[0].id;
  write_attempt(store_.cell_dir(id), 0, 1, 0, 3, false);
  store_.publish_failure(id, 1, CellStatus::Oom, R"({"problem":"needs 9 GB, 8 are free"})");

  const CellSummary failed = summarise(store_, plan_)[0];

  EXPECT_EQ(failed.status, CellStatus::Oom);
  EXPECT_EQ(failed.problem, "needs 9 GB, 8 are free");
  LeaseKeeper keeper;
  while (true) {  // a later attempt, given up again
    auto lease = keeper.try_acquire(store_.cell_dir(id));
    ASSERT_TRUE(lease.has_value());
    if (lease->generation() > 1) break;
  }
  EXPECT_EQ(summarise(store_, plan_)[0].status, CellStatus::Pending);
}

TEST_F(Summary, ADamagedResultOfAnEarlierPlanNamesTheSweepFileThatMendsIt) {
  finish_cell(store_, plan_, 0, 5);
  finish_cell(store_, plan_, 1, 5);
  publish_plan(store_, synthetic_sweep({1e-3, 1e-2}));
  for (const std::size_t row : {0U, 1U}) {
    std::ofstream(store_.cell_path(plan_.cells[row].id) / "result.h5") << "?";
  }

  const std::vector<CellSummary> cells = summarise(store_, read_plan(store_));

  ASSERT_EQ(cells.size(), 3U);
  EXPECT_TRUE(cells[0].damage.ends_with("; depthgrid run trains the cell again"));
  EXPECT_FALSE(cells[2].in_plan);
  EXPECT_TRUE(cells[2].damage.ends_with("; depthgrid run " + store_.sweep_yaml(1).string() +
                                        " trains the cell again"))
      << cells[2].damage;
}

TEST_F(Summary, AFolderThatCannotBeReadIsTheProblemOfItsCellAlone) {
  finish_cell(store_, plan_, 0, 5);
  finish_cell(store_, plan_, 1, 5);
  const auto folder = store_.cell_path(plan_.cells[1].id);
  std::filesystem::remove_all(folder);
  std::ofstream(folder) << "no folder";

  const std::vector<CellSummary> cells = summarise(store_, plan_);

  EXPECT_EQ(cells[0].status, CellStatus::Completed);
  EXPECT_EQ(cells[1].status, CellStatus::Failed);
  EXPECT_NE(cells[1].problem.find("cannot be read: Not a directory"), std::string::npos)
      << cells[1].problem;
}

}  // namespace summary_test
}  // namespace depthgrid
