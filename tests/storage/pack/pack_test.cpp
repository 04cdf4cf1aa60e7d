#include "storage/pack/pack.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "storage/cells/state_file.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/pack/pack_axes.hpp"
#include "storage/pack/pack_sources.hpp"
#include "tests/storage/folder_watch.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace pack_test {

class Pack : public testing::Test {
 protected:
  Pack() : store_(Store::open_or_create(folder_.path() / "s")) {}

  void plan(const std::vector<double>& rates) {
    publish_plan(store_, synthetic_sweep(rates));
    plan_ = read_plan(store_);
  }

  TableReader packed() const { return TableReader(store_.packed_file()); }

  TemporaryFolder folder_;
  Store store_;
  StoredPlan plan_;
};

TEST_F(Pack, FinishedAndUnfinishedCellsStandInTheOrderOfThePlan) {
  plan({1e-4, 1e-3, 1e-2});
  finish_cell(store_, plan_, 1, 12);
  write_attempt(store_.cell_dir(plan_.cells[2].id), 2, 1, 0, 7, false);

  const PackReport report = pack(store_);

  EXPECT_TRUE(report.written);
  EXPECT_EQ(report.cells, 3);
  EXPECT_EQ(report.finished, 1);
  EXPECT_EQ(report.added, 1);
  EXPECT_TRUE(report.problems.empty());
  const TableReader file = packed();
  const VariableColumn loss = file.read("train_loss");
  ASSERT_EQ(loss.items(), 3U * 12);
  EXPECT_TRUE(std::isnan(loss.number(0)));
  EXPECT_EQ(loss.number(12 + 11), synthetic_loss(1, 12));
  EXPECT_EQ(loss.number(24 + 6), synthetic_loss(2, 7));
  EXPECT_TRUE(std::isnan(loss.number(24 + 7)));
  EXPECT_EQ(file.read("train_tokens").integer(0), -1);
  const VariableColumn status = file.read("cell_status");
  EXPECT_EQ(status.integer(0), 0);
  EXPECT_EQ(status.integer(1), 2);
  EXPECT_EQ(status.integer(2), 0) << "interrupted: pending with an attempt";
  EXPECT_EQ(file.read("n_steps").integer(2), 7);
  EXPECT_EQ(file.read("final_loss").number(4 + 2), 2.5);
  EXPECT_EQ(file.read("n_parameters").integer(0), -1);
  EXPECT_EQ(file.read("attempt_cell").items(), 2U);
  EXPECT_EQ(file.read("attempt_cell").text(0), plan_.cells[1].id);
  EXPECT_EQ(file.read("result_sha256").text(0), "");
  EXPECT_EQ(file.read("result_sha256").text(1).size(), 64U);
  EXPECT_EQ(file.read("param_train_lr").number(2), 1e-2);
  EXPECT_EQ(file.integer_attribute("n_cells_planned"), 3);
  EXPECT_EQ(file.integer_attribute("n_cells_packed"), 1);
  EXPECT_EQ(file.text_attribute("metric"), "eval_loss.valid");
}

TEST_F(Pack, StepAxesAreTheUnionOfAllSteps) {
  plan({1e-4, 1e-3});
  finish_cell(store_, plan_, 0, 10);
  // The second cell's first journal is gone: its steps start at 8.
  write_attempt(store_.cell_dir(plan_.cells[1].id), 1, 2, 7, 20, false);

  pack(store_);

  const TableReader file = packed();
  ASSERT_EQ(file.read("step").items(), 20U);
  const VariableColumn loss = file.read("train_loss");
  EXPECT_TRUE(std::isnan(loss.number(20 + 6)));
  EXPECT_EQ(loss.number(20 + 7), synthetic_loss(1, 8));
  EXPECT_EQ(file.read("eval_step").items(), 4U);
  EXPECT_EQ(file.read("eval_step").integer(3), 20);
}

TEST_F(Pack, PackingAgainWithoutNewsLeavesTheFileAlone) {
  plan({1e-4, 1e-3});
  finish_cell(store_, plan_, 0, 10);
  pack(store_);
  const auto before = peek_seal(store_.packed_file())->digest;

  const PackReport again = pack(store_);

  EXPECT_FALSE(again.written);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(peek_seal(store_.packed_file())->digest, before);
}

/// Publishes raw states of one token and channel.
std::filesystem::path keep_states(const std::filesystem::path& folder, const CellId& cell,
                                  std::int64_t step, std::int64_t channel = 0) {
  const std::vector<double> times = {0, 1};
  const std::vector<std::int64_t> channels = {channel};
  const std::vector<std::int32_t> ids = {3};
  const std::vector<std::byte> states(4);
  return publish_states(folder, {.cell = cell,
                                 .step = step,
                                 .half = true,
                                 .sequences = 1,
                                 .edge_times = times,
                                 .channels = channels,
                                 .token_ids = ids,
                                 .states = states});
}

TEST_F(Pack, FilesOfRawStatesAreListed) {
  plan({1e-4, 1e-3, 1e-2});
  finish_cell(store_, plan_, 0, 10);
  finish_cell(store_, plan_, 1, 10);
  pack(store_);
  EXPECT_FALSE(packed().has("state_cell")) << "there are none";
  const std::string first = plan_.cells[0].id, last = plan_.cells[2].id;
  keep_states(store_.cell_dir(last), last, 7);
  keep_states(store_.cell_dir(first), first, 100);
  keep_states(store_.cell_dir(first), first, 20);
  const auto more = keep_states(store_.cell_dir(first), first, 20, 1);
  std::ofstream(store_.cell_dir(first) / "states-00000040.h5") << "no seal";
  std::ofstream(store_.cell_dir(first) / "states-40.h5.damaged-1") << "another name";

  EXPECT_TRUE(pack(store_).written) << "new files are news";

  const TableReader file = packed();
  ASSERT_EQ(file.read("state_record").items(), 4U);
  const VariableColumn cell = file.read("state_cell"), step = file.read("state_step"),
                       name = file.read("state_file"), seal = file.read("state_sha256");
  const std::vector<std::pair<std::string, std::int64_t>> expected = {
      {first, 20}, {first, 20}, {first, 100}, {last, 7}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cell.text(i), expected[i].first);
    EXPECT_EQ(step.integer(i), expected[i].second);
    const auto there = peek_seal(store_.root() / std::string(name.text(i)));
    ASSERT_TRUE(there) << name.text(i);
    EXPECT_EQ(seal.text(i), hex(there->digest));
  }
  EXPECT_TRUE(std::string(name.text(1)).ends_with("states-00000020-2.h5"));
  EXPECT_EQ(file.read("attempt_cell").items(), 2U) << "other records are as they were";
  EXPECT_FALSE(pack(store_).written);

  std::filesystem::remove(more);
  pack(store_);
  EXPECT_EQ(packed().read("state_cell").items(), 3U);
}

/// Everything but what says when and how often was packed.
void expect_same_columns(const TableReader& a, const TableReader& b) {
  ASSERT_EQ(a.names(), b.names());
  for (const std::string& name : a.names())
    EXPECT_EQ(a.read(name).bytes, b.read(name).bytes) << name;
}

TEST_F(Pack, InStepsEqualsAtOnce) {
  std::vector<double> rates;
  for (int i = 1; i <= 300; ++i) rates.push_back(1e-4 * i);
  plan(rates);  // three blocks of cells, of which the last has no numbers at all
  finish_cell(store_, plan_, 5, 40);
  finish_cell(store_, plan_, 130, 40, CellStatus::Diverged);
  pack(store_);
  finish_cell(store_, plan_, 6, 40);
  write_attempt(store_.cell_dir(plan_.cells[199].id), 199, 1, 0, 33, false);
  const PackReport second = pack(store_);
  finish_cell(store_, plan_, 7, 45);  // the axis grows
  const PackReport third = pack(store_);
  const auto in_steps = folder_.path() / "in_steps.h5";
  std::filesystem::rename(store_.packed_file(), in_steps);

  pack(store_);

  EXPECT_EQ(second.added, 1);
  EXPECT_EQ(third.added, 1);
  expect_same_columns(TableReader(in_steps), packed());
  const VariableColumn group = packed().read("train_grad_norm_group");
  EXPECT_EQ(group.number((130 * 45 + 39) * 17 + 16), 16 + 40);
  EXPECT_EQ(packed().read("cell_status").integer(130), 3);
}

TEST_F(Pack, CellsOfTheFileBeforeAreNotReadAgain) {
  plan({1e-4, 1e-3});
  finish_cell(store_, plan_, 0, 10);
  pack(store_);
  finish_cell(store_, plan_, 1, 10);
  const auto old_result = store_.cell_dir(plan_.cells[0].id) / "result.h5";
  // Damage behind the seal block: only a reader of the whole file would notice.
  std::fstream stream(old_result, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(3000);
  stream.put('!');
  stream.close();

  const PackReport report = pack(store_);

  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(packed().read("train_loss").number(9), synthetic_loss(0, 10));
  EXPECT_EQ(packed().read("train_loss").number(19), synthetic_loss(1, 10));
}

TEST_F(Pack, ADamagedResultIsReportedAndItsJournalsUsed) {
  plan({1e-4, 1e-3});
  finish_cell(store_, plan_, 0, 10);
  const auto result = store_.cell_dir(plan_.cells[0].id) / "result.h5";
  std::fstream stream(result, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(3000);
  stream.put('!');
  stream.close();

  const PackReport report = pack(store_);

  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("result.h5"), std::string::npos);
  EXPECT_EQ(packed().read("train_loss").number(9), synthetic_loss(0, 10));
  EXPECT_EQ(packed().read("cell_status").integer(0), 0);
}

TEST_F(Pack, ADamagedPackedFileIsBuiltAnew) {
  plan({1e-4});
  finish_cell(store_, plan_, 0, 10);
  pack(store_);
  std::fstream stream(store_.packed_file(), std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(4000);
  stream.put('!');
  stream.close();

  const PackReport report = pack(store_);

  EXPECT_TRUE(report.written);
  EXPECT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(packed().read("train_loss").number(9), synthetic_loss(0, 10));
  EXPECT_TRUE(std::filesystem::exists(store_.packed_file().string() + ".damaged-1"));
}

TEST_F(Pack, FactsOfARunningCellComeFromItsSnapshot) {
  plan({1e-4});
  const auto cell = store_.cell_dir(plan_.cells[0].id);
  write_attempt(cell, 0, 1, 0, 4, false);
  const CellHistory history = read_history(cell);
  publish_metrics(cell, {.plan = plan_.cells[0],
                         .sweep = plan_,
                         .history = history,
                         .status = CellStatus::Running,
                         .facts = synthetic_facts()});
  write_attempt(cell, 0, 2, 4, 9, false);

  pack(store_);

  EXPECT_EQ(packed().read("n_parameters").integer(0), 4902912);
  EXPECT_EQ(packed().read("n_steps").integer(0), 9) << "journals are newer than the snapshot";
}

TEST_F(Pack, AResultThatComesWhileTheFileIsWrittenIsPackedToo) {
  plan({1e-4, 1e-3});
  finish_cell(store_, plan_, 0, 10);
  finish_cell(store_, plan_, 1, 10);
  const auto result = store_.cell_dir(plan_.cells[1].id) / "result.h5";
  const auto moved = folder_.path() / "result.h5";
  std::filesystem::rename(result, moved);
  // The first file that is made beside the packed one is the next packed one.
  const FolderWatch watch(store_.root(), DN_CREATE, [&] {
    std::error_code done_before;
    std::filesystem::rename(moved, result, done_before);
  });
  if (!watch.works()) GTEST_SKIP() << "this kernel does not signal changes of a folder";

  const PackReport report = pack(store_);

  EXPECT_EQ(report.finished, 2);
  EXPECT_EQ(report.added, 2);
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(packed().integer_attribute("n_cells_packed"), 2);
  EXPECT_EQ(packed().read("train_loss").number(19), synthetic_loss(1, 10));
}

TEST_F(Pack, WhatARunningCellRecordsIsNoReasonToPackOnceMore) {
  plan({1e-4, 1e-3});
  const auto cell = store_.cell_dir(plan_.cells[0].id);
  LeaseKeeper keeper;
  auto lease = keeper.try_acquire(cell);
  ASSERT_TRUE(lease.has_value());
  const std::string before = finalised_digest(store_, plan_);
  EXPECT_EQ(gather_sources(store_, plan_).finalised, before);

  write_attempt(cell, 0, 1, 0, 5, false);

  EXPECT_EQ(finalised_digest(store_, plan_), before);
  lease->release();
  EXPECT_NE(finalised_digest(store_, plan_), before);
}

TEST_F(Pack, AStoreWithoutAPlanCannotBePacked) {
  EXPECT_THROW(pack(store_), StorageError);
}

TEST(PackAxes, OuterJoinKeepsEveryStepOnceAndSorted) {
  PackAxes axes;
  axes.add_steps("step", std::vector<std::int64_t>{1, 2, 3});
  axes.add_steps("step", std::vector<std::int64_t>{2, 3, 10});
  axes.add_steps("step", std::vector<std::int64_t>{5});
  axes.finish();

  const VariableColumn steps = axes.coordinates().at(0);
  const VariableColumn expected =
      integer_column("step", {"step"}, DataType::Int64, std::vector<std::int64_t>{1, 2, 3, 5, 10});
  EXPECT_EQ(steps.bytes, expected.bytes);
  EXPECT_EQ(axes.positions("step", std::vector<std::int64_t>{2, 10}),
            (std::vector<std::int64_t>{1, 4}));
  EXPECT_THROW(axes.positions("step", std::vector<std::int64_t>{4}), Error);
}

TEST(PackAxes, ItemsGoToTheirPlacesAndTheRestStays) {
  const VariableColumn from =
      number_column("x", {"step", "depth"}, DataType::Int32, std::vector<double>{1, 2, 3, 4});
  std::vector<std::byte> to = absent_items(DataType::Int32, 4, 3 * 3);
  const std::vector<AxisFit> fits = {{.own = 2, .all = 3, .positions = {0, 2}},
                                     {.own = 2, .all = 3, .positions = {}}};

  place_items(from.bytes, 4, to, 4, fits);

  VariableColumn out = from;
  out.bytes = to;
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < 9; ++i) values.push_back(out.integer(i));
  EXPECT_EQ(values, (std::vector<std::int64_t>{1, 2, -1, -1, -1, -1, 3, 4, -1}));
}

TEST_F(Pack, AGrownStoreHasAllCellsAndMarksThoseOfEarlierPlans) {
  plan({1e-4, 1e-3});
  finish_cell(store_, plan_, 0, 5);
  finish_cell(store_, plan_, 1, 5);
  pack(store_);

  plan({1e-2, 1e-4});
  const PackReport report = pack(store_);

  EXPECT_TRUE(report.written) << "a plan is news, though nothing was trained";
  EXPECT_EQ(report.cells, 3);
  EXPECT_EQ(report.finished, 2);
  const TableReader file = packed();
  std::vector<std::int64_t> newest, plans;
  std::vector<double> rates, losses;
  for (std::size_t i = 0; i < 3; ++i) {
    newest.push_back(file.read("in_newest_plan").integer(i));
    plans.push_back(file.read("plan_generation").integer(i));
    rates.push_back(file.read("param_train_lr").number(i));
    losses.push_back(file.read("final_loss").number(i * 4 + 2));
  }
  EXPECT_EQ(newest, (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_EQ(plans, (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(rates, (std::vector<double>{1e-2, 1e-4, 1e-3}));
  EXPECT_TRUE(std::isnan(losses[0]));
  EXPECT_EQ(losses[1], 1.5);
  EXPECT_EQ(losses[2], 2.5);
  EXPECT_FALSE(pack(store_).written);

  plan({1e-4});  // fewer cells, the same results
  EXPECT_TRUE(pack(store_).written);
  EXPECT_EQ(packed().read("in_newest_plan").integer(0), 1);
  EXPECT_EQ(packed().read("cell").items(), 2U) << "1e-2 was never tried";
}

}  // namespace pack_test
}  // namespace depthgrid
