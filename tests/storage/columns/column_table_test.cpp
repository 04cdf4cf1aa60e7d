#include "storage/columns/column_table.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace column_table_test {

TEST(ColumnTable, AbsentNumbersAreNanInRealsAndMinusOneInIntegers) {
  const std::vector<double> values = {1.25, std::nan("")};

  const VariableColumn real = number_column("x", {"step"}, DataType::Float32, values);
  const VariableColumn whole = number_column("n", {"step"}, DataType::Int8, values);

  EXPECT_EQ(real.bytes.size(), 8U);
  EXPECT_EQ(real.number(0), 1.25);
  EXPECT_TRUE(std::isnan(real.number(1)));
  EXPECT_EQ(whole.integer(0), 1);
  EXPECT_EQ(whole.integer(1), -1);
}

TEST(ColumnTable, LargestSeedSurvives) {
  const std::vector<std::int64_t> seeds = {std::numeric_limits<std::int64_t>::max()};

  const VariableColumn column = integer_column("param_seed", {"cell"}, DataType::Int64, seeds);

  EXPECT_EQ(column.integer(0), seeds[0]);
}

TEST(ColumnTable, TextsArePaddedToAMultipleOfEight) {
  const std::vector<std::string> texts = {"abc", "Δ=0123456", ""};

  const VariableColumn column = text_column("arm", {"cell"}, texts);

  EXPECT_EQ(column.item_bytes, 16U);
  EXPECT_EQ(column.items(), 3U);
  EXPECT_EQ(column.text(1), "Δ=0123456");
  EXPECT_EQ(column.text(2), "");
}

TEST(ColumnTable, EmptyTextsStillHaveWidth) {
  EXPECT_EQ(text_column("factor", {"cell"}, std::vector<std::string>{""}).item_bytes, 8U);
}

TEST(ColumnTable, CoordinateOfDepthStartsAtOneAndOfEdgesAtZero) {
  const VariableColumn depth = coordinate(dimension("depth"), 3);
  const VariableColumn edge = coordinate(dimension("depth_edge"), 4);
  const VariableColumn split = coordinate(dimension("split"), 4);

  EXPECT_EQ(depth.integer(0), 1);
  EXPECT_EQ(depth.integer(2), 3);
  EXPECT_EQ(edge.integer(0), 0);
  EXPECT_EQ(split.text(2), "valid");
}

TEST(ColumnTable, UnknownAxisIsABug) {
  EXPECT_THROW(dimension("depht"), Error);
}

}  // namespace column_table_test
}  // namespace depthgrid
