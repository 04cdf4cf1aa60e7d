#include "storage/pack/cell_probe_records.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "storage/cells/probe_record.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/pack/pack.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_probe_records_test {

/// Looks at `steps` of one variable over `exponent` with n entries: step + entry / 10.
void look(const Store& store, const StoredPlan& plan, std::size_t row,
          const std::vector<std::int64_t>& steps, std::int64_t n, double shift = 0,
          const std::vector<std::string>& variant = {"raw"}) {
  RowLayout layout;
  layout.give({"lyapunov_variant", 1, variant, {}});
  layout.give({"exponent", n, {}, {}});
  const RowSlot slot = layout.add("lyapunov_exponent");
  RowTable rows;
  rows.width = static_cast<std::int64_t>(slot.count);
  for (const std::int64_t step : steps) {
    std::vector<double> numbers;
    for (std::int64_t k = 0; k < n; ++k) {
      numbers.push_back(static_cast<double>(step) + static_cast<double>(k) / 10 + shift);
    }
    rows.add(step, numbers);
  }
  publish_synthetic_probe_record(store, plan, row, layout, rows);
}

class CellLooks : public testing::Test {
 protected:
  CellLooks() : store_(Store::open_or_create(folder_.path() / "s")) {
    publish_plan(store_, synthetic_sweep({1e-4, 1e-3, 1e-2}));
    plan_ = read_plan(store_);
    finish_cell(store_, plan_, 0, 12);
    finish_cell(store_, plan_, 1, 12);
  }

  VariableColumn packed(const std::string& name) {
    const PackReport report = pack(store_);
    problems_ = report.problems;
    return TableReader(store_.packed_file()).read(name);
  }

  TemporaryFolder folder_;
  Store store_;
  StoredPlan plan_;
  std::vector<std::string> problems_;
};

TEST_F(CellLooks, ComeIntoThePackedFileBesideTheRunsOwnNumbers) {
  const VariableColumn before = packed("train_loss");
  look(store_, plan_, 1, {4, 12}, 2);

  const VariableColumn found = packed("lyapunov_exponent");

  ASSERT_EQ(found.items(), 3U * 2 * 2) << "cells, steps, exponents";
  EXPECT_TRUE(std::isnan(found.number(0)));
  EXPECT_EQ(found.number(4), 4);
  EXPECT_EQ(found.number(5), 4.1);
  EXPECT_EQ(found.number(7), 12.1);
  EXPECT_TRUE(std::isnan(found.number(8)));
  const TableReader file(store_.packed_file());
  EXPECT_EQ(file.read("train_loss").bytes, before.bytes);
  EXPECT_EQ(file.read("probe_step").integer(1), 12);
  EXPECT_EQ(file.read("n_probes").integer(0), 0);
  EXPECT_EQ(file.read("n_probes").integer(1), 2);
  EXPECT_EQ(file.read("looks_sha256").text(0), "");
  EXPECT_EQ(file.read("looks_sha256").text(1).size(), 64U);
  EXPECT_TRUE(store_.completed(plan_.cells[1].id)) << "the result is as it was";
}

TEST_F(CellLooks, LaterFilesGoBeforeEarlierOnes) {
  look(store_, plan_, 0, {4, 8}, 1);
  EXPECT_EQ(packed("lyapunov_exponent").items(), 3U * 2);
  look(store_, plan_, 0, {8, 12}, 2, 100);

  const VariableColumn found = packed("lyapunov_exponent");

  ASSERT_EQ(found.items(), 3U * 3 * 2);
  EXPECT_EQ(found.number(0), 4);
  EXPECT_TRUE(std::isnan(found.number(1))) << "one exponent was looked at there";
  EXPECT_EQ(found.number(2), 108);
  EXPECT_EQ(found.number(5), 112.1);
}

TEST_F(CellLooks, ALaterLookWithFewerEntriesLeavesNothingOfTheEarlierOne) {
  look(store_, plan_, 0, {4, 8}, 3);
  look(store_, plan_, 0, {8}, 1, 100);

  const VariableColumn found = packed("lyapunov_exponent");

  ASSERT_EQ(found.items(), 3U * 2 * 3);
  EXPECT_EQ(found.number(2), 4.2) << "looked at once";
  EXPECT_EQ(found.number(3), 108);
  EXPECT_TRUE(std::isnan(found.number(4)));
  EXPECT_TRUE(std::isnan(found.number(5)));
}

TEST_F(CellLooks, OfOtherBinsLeaveNothingOfTheEarlierOnes) {
  const auto histogram = [&](const std::vector<double>& centres, double share) {
    RowLayout layout;
    layout.give({"weight_type", 1, {"q"}, {}});
    layout.give({"depth", 1, {}, {}});
    layout.give({"histogram_bin", static_cast<std::int64_t>(centres.size()), {}, centres});
    const RowSlot slot = layout.add("gate_histogram");
    RowTable rows;
    rows.width = static_cast<std::int64_t>(slot.count);
    rows.add(4, std::vector<double>(slot.count, share));
    publish_probe_record(store_.cell_path(plan_.cells[0].id), {.plan = plan_.cells[0],
                                                               .sweep = plan_,
                                                               .layout = layout,
                                                               .rows = rows,
                                                               .probes = "gates",
                                                               .settings = "{}",
                                                               .command = "depthgrid probe"});
  };
  histogram({.125, .375, .625, .875}, .25);
  histogram({.25, .75}, .5);

  const VariableColumn found = packed("gate_histogram");
  ASSERT_EQ(found.items() % 6, 0U);
  double all = 0;
  for (std::size_t i = 0; i < found.items(); ++i) {
    all += std::isnan(found.number(i)) ? 0 : found.number(i);
  }
  EXPECT_EQ(all, 1) << "shares of one histogram, not of two";
}

TEST_F(CellLooks, VariantsKeepTheProgramsOrder) {
  look(store_, plan_, 0, {4}, 1, 0, {"relative"});
  look(store_, plan_, 1, {4}, 1, 10, {"normalised"});
  look(store_, plan_, 1, {8}, 1, 0, {"raw"});

  const VariableColumn found = packed("lyapunov_exponent");

  const VariableColumn variants = TableReader(store_.packed_file()).read("lyapunov_variant");
  ASSERT_EQ(variants.items(), 3U);
  EXPECT_EQ(variants.text(0), "raw");
  EXPECT_EQ(variants.text(1), "normalised");
  EXPECT_EQ(variants.text(2), "relative");
  EXPECT_EQ(found.number(2), 4);       // cell 0, step 4, relative
  EXPECT_EQ(found.number(6 + 1), 14);  // cell 1, step 4, normalised
  EXPECT_EQ(found.number(6 + 3), 8);   // cell 1, step 8, raw
}

TEST_F(CellLooks, AreThoseOfAnUnfinishedCellToo) {
  write_attempt(store_.cell_dir(plan_.cells[2].id), 2, 1, 0, 7, false);
  look(store_, plan_, 2, {4}, 1);
  const VariableColumn found = packed("lyapunov_exponent");
  ASSERT_EQ(found.items(), 3U);
  EXPECT_EQ(found.number(2), 4);
  EXPECT_EQ(TableReader(store_.packed_file()).read("n_steps").integer(2), 7);
}

TEST_F(CellLooks, NothingIsWrittenAgainWhereNothingIsNew) {
  look(store_, plan_, 0, {4}, 1);
  EXPECT_TRUE(pack(store_).written);
  EXPECT_FALSE(pack(store_).written);
  finish_cell(store_, plan_, 2, 12);  // the other rows are taken from the packed file
  EXPECT_EQ(packed("lyapunov_exponent").number(0), 4);
}

TEST_F(CellLooks, ADamagedFileIsSaidEachTimeAndLeftOut) {
  look(store_, plan_, 0, {4}, 1);
  look(store_, plan_, 0, {8}, 1);
  const auto files = probe_record_files(store_.cell_path(plan_.cells[0].id));
  ASSERT_EQ(files.size(), 2U);
  {
    std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(900);
    file.put('x');
  }

  const VariableColumn found = packed("lyapunov_exponent");

  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_NE(problems_[0].find("probe-1.h5"), std::string::npos) << problems_[0];
  EXPECT_NE(problems_[0].find("left out"), std::string::npos);
  ASSERT_EQ(found.items(), 3U);
  EXPECT_EQ(found.number(0), 8);
}

}  // namespace cell_probe_records_test
}  // namespace depthgrid
