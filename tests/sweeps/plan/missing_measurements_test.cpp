#include "sweeps/plan/missing_measurements.hpp"

#include <gtest/gtest.h>

#include "core/config/sweep/observation.hpp"
#include "storage/cells/probe_record.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace missing_measurements_test {

void look(const Store& store, const StoredPlan& plan, std::size_t row) {
  RowLayout layout;
  const RowSlot slot = layout.add("lyapunov_log_det");
  RowTable rows;
  rows.width = static_cast<std::int64_t>(slot.count);
  rows.add(5, std::vector<double>{-1.5});
  publish_synthetic_probe_record(store, plan, row, layout, rows);
}

TEST(MissingMeasurements, AreThoseOfFinishedCellsThatNobodyHasMade) {
  const TemporaryFolder folder;
  const Sweep sweep = synthetic_sweep({1e-4, 1e-3, 1e-2});
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store, sweep);
  const StoredPlan plan = read_plan(store);
  finish_cell(store, plan, 0, 5);
  finish_cell(store, plan, 1, 5);
  look(store, plan, 1);
  CostTable costs;
  StructureCost& cost = costs[sweep.cells[0].structure];
  cost.probes = {{.name = "gates", .measurements = 2}, {.name = "lyapunov", .measurements = 2}};

  const std::vector<MissingMeasurements> missing = missing_measurements(sweep, costs, store.root());

  ASSERT_EQ(missing.size(), 2U);
  EXPECT_EQ(missing[0].probe, "gates");
  EXPECT_EQ(missing[0].cells, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(missing[1].probe, "lyapunov");
  EXPECT_EQ(missing[1].cells, (std::vector<std::size_t>{0})) << "the third cell is not finished";
  EXPECT_EQ(missing_measurements_text(missing[1], sweep, "a b"),
            "lyapunov is switched on, but has not measured 1 finished cell (" +
                sweep.cells[0].alias +
                "): `depthgrid probe 'a b' --probe lyapunov` measures their stored checkpoints, "
                "`run --rerun CELL` trains again");
}

TEST(MissingMeasurements, AreUnknownWithoutCostsOrAStore) {
  const TemporaryFolder folder;
  const Sweep sweep = synthetic_sweep({1e-4});
  EXPECT_TRUE(missing_measurements(sweep, {}, folder.path() / "none").empty());
  const Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store, sweep);
  finish_cell(store, read_plan(store), 0, 5);
  EXPECT_TRUE(missing_measurements(sweep, {}, store.root()).empty());
}

TEST(BlindProbes, AreThoseThatTheFileGivesAndNoStructureHas) {
  Sweep sweep = synthetic_sweep({1e-4, 1e-3});
  for (CellPlan& cell : sweep.cells) {
    cell.config = with_observations(cell.config, {"probes.solver.schedule=end"});
  }
  CostTable costs;
  for (const CellPlan& cell : sweep.cells) costs[cell.structure].probes = {{.name = "trajectory"}};
  EXPECT_TRUE(blind_probes(sweep, costs).empty()) << "without times nothing is known";
  for (auto& [structure, cost] : costs) cost.seconds_per_cell_step = 1e-3;

  const std::vector<std::string> blind = blind_probes(sweep, costs);

  ASSERT_EQ(blind.size(), 1U);
  EXPECT_TRUE(blind.front().starts_with("probes.solver.schedule is given, but no cell has"));
  for (auto& [structure, cost] : costs) cost.probes.push_back({.name = "solver"});
  EXPECT_TRUE(blind_probes(sweep, costs).empty());
}

}  // namespace missing_measurements_test
}  // namespace depthgrid
