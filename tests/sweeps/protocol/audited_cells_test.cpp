#include "sweeps/protocol/audited_cells.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid::testing {
namespace audited_cells_test {

std::vector<CellPlan> cells_of(const std::vector<ValueMap>& leaves) {
  std::vector<CellPlan> out;
  for (const ValueMap& one : leaves) {
    CellPlan cell;
    cell.structure = "s";
    cell.config = make_config(one);
    out.push_back(cell);
  }
  return out;
}

std::vector<double> scales_of(const std::vector<const CellPlan*>& cells) {
  std::vector<double> out;
  for (const CellPlan* cell : cells) out.push_back(cell->config.real("model.residual.scale"));
  return out;
}

TEST(AuditedCells, HoldTheExtremesAndTheMiddleOfALeaf) {
  std::vector<ValueMap> leaves;
  for (const double scale : {0.5, 0.4, 0.1, 0.9, 0.3, 0.7, 0.2}) {
    leaves.push_back({{"model.residual.scale", scale}});
  }
  const std::vector<CellPlan> cells = cells_of(leaves);

  const std::vector<double> seen = scales_of(audited_cells(cells, cells.front()));

  EXPECT_EQ(seen, (std::vector<double>{0.5, 0.1, 0.4, 0.9}));
}

TEST(AuditedCells, OfSeedsAndRatesIsTheFirst) {
  const std::vector<CellPlan> cells =
      cells_of({{}, {{"model.seed", std::int64_t{3}}}, {{"train.lr", 0.1}}});

  EXPECT_EQ(audited_cells(cells, cells.front()), std::vector<const CellPlan*>{&cells.front()});
}

TEST(AuditedCells, AreOfTheFirstOnesStructure) {
  std::vector<CellPlan> cells = cells_of({{}, {{"model.residual.scale", 0.5}}});
  cells[1].structure = "another";

  EXPECT_EQ(audited_cells(cells, cells[0]).size(), 1U);
  const auto request = parse_json(audit_request(cells, true));
  ASSERT_EQ(request.at("structures").size(), 2U);
  EXPECT_TRUE(request.at("fresh"));
  EXPECT_TRUE(request.at("structures")[0].at("others").empty());
}

TEST(AuditedCells, AreSentWithTheirStructure) {
  const std::vector<CellPlan> cells = cells_of({{}, {{"model.residual.scale", 0.5}}});

  const auto request = parse_json(audit_request(cells, false));

  ASSERT_EQ(request.at("structures").size(), 1U);
  const auto& one = request.at("structures")[0];
  EXPECT_EQ(one.at("config").at("model.residual.scale"), 1);
  ASSERT_EQ(one.at("others").size(), 1U);
  EXPECT_EQ(one.at("others")[0].at("model.residual.scale"), 0.5);
}

}  // namespace audited_cells_test
}  // namespace depthgrid::testing
