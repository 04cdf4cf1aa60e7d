#include <algorithm>

#include <gtest/gtest.h>

#include "sweeps/plan/plan_report.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace plan_text_test {

constexpr const char* kTwoByTwo = R"(
model: {d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: synthetic:markov, seq_len: 16}
parameters: {model.n_layers: [1, 2], train.lr: [1e-3, 1e-2]}
seeds: 2
)";

std::string text_with(const std::vector<std::string>& set) {
  const Sweep sweep = SweepFiles().load(kTwoByTwo, set);
  const std::vector<CellStatus> status(sweep.cells.size(), CellStatus::Pending);
  return plan_text(
      sweep, make_plan_report(sweep, "results/two", status, packing_options(sweep.run, 1), {}, {}));
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t lines = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++lines;
  return lines;
}

TEST(PlanText, JobsWithOneReasonShareALine) {
  const std::string text = text_with({"packing.fuse=off"});
  EXPECT_EQ(lines_with(text, "alone: packing.fuse is off"), 2U) << text;  // one per structure
  EXPECT_EQ(lines_with(text, "\n4 jobs "), 2U) << text;
  EXPECT_NE(text.find("n_layers=1,lr=0.001,s0 … n_layers=1,lr=0.01,s1"), std::string::npos) << text;
  EXPECT_EQ(lines_with(text, " pending "), 8U) << text;  // every cell still has its line
}

TEST(PlanText, AJobOfItsOwnHasItsIdAndItsCells) {
  const std::string text = text_with({"train.lr=1e-3"});
  EXPECT_EQ(lines_with(text, "n_layers=1,s0, n_layers=1,s1"), 1U) << text;
  EXPECT_EQ(lines_with(text, " jobs "), 1U) << text;  // in the heading only
}

TEST(PlanText, CancelledCellsAreInNoJob) {
  const Sweep sweep = SweepFiles().load(kTwoByTwo, {});
  std::vector<CellStatus> status(sweep.cells.size(), CellStatus::Pending);
  status[0] = status[3] = CellStatus::Cancelled;
  const PlanReport report =
      make_plan_report(sweep, "results/two", status, packing_options(sweep.run, 1), {}, {});
  std::size_t planned = 0;
  for (const FusedJob& job : report.jobs) {
    planned += job.cells.size();
    EXPECT_EQ(std::ranges::count(job.cells, 0U) + std::ranges::count(job.cells, 3U), 0);
  }
  EXPECT_EQ(planned, sweep.cells.size() - 2);
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0],
            "2 cancelled cells are left out; depthgrid retry makes them pending again");
}

TEST(PlanText, ProbesAreShownWithTheirShareOfTheTraining) {
  const Sweep sweep = SweepFiles().load(kTwoByTwo, {"train.lr=1e-3", "train.steps=100"});
  const std::vector<CellStatus> status(sweep.cells.size(), CellStatus::Pending);
  CostTable costs;
  StructureCost& cost = costs[sweep.cells[0].structure];
  cost.seconds_per_cell_step = 1e-3;
  cost.probes = {{.name = "lyapunov", .measurements = 5, .seconds = 2e-3, .numbers = 100}};
  const std::string text = plan_text(
      sweep,
      make_plan_report(sweep, "results/two", status, packing_options(sweep.run, 1), costs, {}),
      Colour::No);
  const std::size_t at = text.find("lyapunov");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  EXPECT_NE(line.find("10.0 %"), std::string::npos) << line;
  EXPECT_NE(line.find("5.9 KiB"), std::string::npos) << line;  // 5 * 100 * 12 bytes
}

TEST(PlanText, Bfloat16OnACpuWithoutItsProductsIsSaid) {
  const Sweep halves = SweepFiles().load(kTwoByTwo, {"train.precision=fp32,bf16"});
  const Sweep floats = SweepFiles().load(kTwoByTwo, {});

  ASSERT_TRUE(slow_precision(halves, true, false));
  EXPECT_NE(slow_precision(halves, true, false)->find("train.precision"), std::string::npos);
  EXPECT_FALSE(slow_precision(halves, true, true));
  EXPECT_FALSE(slow_precision(halves, false, false));
  EXPECT_FALSE(slow_precision(floats, true, false));
}

}  // namespace plan_text_test
}  // namespace depthgrid
