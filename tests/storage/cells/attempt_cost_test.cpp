#include "storage/cells/attempt_cost.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace attempt_cost_test {

using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

ColumnTable table_of(const Texts& cells, const Texts& jobs, const Numbers& starts,
                     const Numbers& ends, const Numbers& firsts, const Numbers& lasts) {
  ColumnTable out;
  const auto numbers = [&](const char* name, const char* axis, DataType type, const Numbers& n) {
    out.columns.push_back(number_column(name, {axis}, type, n));
  };
  out.columns.push_back(text_column("attempt_cell", {"attempt"}, cells));
  out.columns.push_back(text_column("attempt_job", {"attempt"}, jobs));
  numbers("attempt_start", "attempt", DataType::Float64, starts);
  numbers("attempt_end", "attempt", DataType::Float64, ends);
  numbers("attempt_first_step", "attempt", DataType::Int64, firsts);
  numbers("attempt_last_step", "attempt", DataType::Int64, lasts);
  out.columns.push_back(text_column("job", {"job"}, Texts{"pair", "alone"}));
  numbers("job_cells", "job", DataType::Int32, {2, 1});
  numbers("job_ranks", "job", DataType::Int32, {1, 3});
  return out;
}

TEST(AttemptCost, IsSecondsTimesRanksOverTheCellsOfTheJob) {
  const ColumnTable table = table_of({"a", "a", "b"}, {"pair", "alone", "pair"}, {100, 200, 100},
                                     {110, 220, 110}, {0, 5, 0}, {10, 20, 10});
  const auto costs = attempt_costs(table, {});
  EXPECT_DOUBLE_EQ(costs.at("a").seconds, 10.0 / 2 + 20.0 * 3);
  EXPECT_DOUBLE_EQ(costs.at("b").seconds, 5);
  // Of the ten steps of the first attempt, five were made again.
  EXPECT_DOUBLE_EQ(costs.at("a").lost, 2.5);
  EXPECT_DOUBLE_EQ(costs.at("b").lost, 0);
}

TEST(AttemptCost, AnAttemptWithoutAnEndCountsItsSteps) {
  const ColumnTable table =
      table_of({"a", "a"}, {"alone", "alone"}, {100, 200}, {std::nan(""), 210}, {0, 0}, {4, 10});
  EXPECT_DOUBLE_EQ(attempt_costs(table, {{"a", 0.5}}).at("a").seconds, (2.0 + 10.0) * 3);
  EXPECT_DOUBLE_EQ(attempt_costs(table, {{"a", 0.5}}).at("a").lost, 2.0 * 3);
  EXPECT_DOUBLE_EQ(attempt_costs(table, {}).at("a").seconds, 30);
}

TEST(AttemptCost, OfATableWithoutAttemptsIsNothing) {
  EXPECT_TRUE(attempt_costs({}, {}).empty());
}

}  // namespace attempt_cost_test
}  // namespace depthgrid
