// Counting a sweep gives what expanding it gives.
#include "core/config/sweep/cell_counter.hpp"

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace cell_counter_test {

namespace fs = std::filesystem;

std::optional<SweepSize> count(const SweepFiles& files, const std::string& text) {
  return count_sweep({.file = files.write("sweep.yaml", text), .set = {}, .yes = true});
}

TEST(CellCounter, AgreesWithTheExpandedSweepForEveryConfiguration) {
  int counted = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(DEPTHGRID_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    const auto size = count_sweep({.file = entry.path(), .set = {}});
    if (!size) continue;
    const Sweep sweep = load_sweep({.file = entry.path(), .set = {}});
    std::set<std::string> structures;
    for (const CellPlan& cell : sweep.cells) structures.insert(cell.structure);
    EXPECT_EQ(size->name, sweep.name);
    EXPECT_EQ(size->cells, sweep.cells.size());
    EXPECT_EQ(size->structures, structures.size());
    EXPECT_EQ(size->notes, sweep.notes);
    ++counted;
  }
  EXPECT_GT(counted, 20);
}

TEST(CellCounter, LeavesToExpansionWhatNeedsTheCells) {
  const SweepFiles files;
  const std::string equal = "method: list\ninclude: [{tag: a}, {tag: b}]\n";
  EXPECT_EQ(count(files, equal), std::nullopt);
  EXPECT_EQ(count(files, kPhases), std::nullopt);
}

TEST(CellCounter, RefusesWhatExpansionRefuses) {
  const SweepFiles files;
  for (const std::string text :
       {"model: {d_modle: 4}\n", "parameters: {train.lr: []}\n", "exclude: [{seed: 0}]\n",
        "max_cells: 3\nparameters: {train.lr: [1, 2]}\nseeds: 2\n",
        "metric: {name: eval_loss.test}\n", "parameters: {model.n_heads: [3]}\n"}) {
    std::string expected, found;
    try {
      files.load(text);
    } catch (const SweepErrors& errors) {
      expected = errors.what();
    }
    try {
      count(files, text);
    } catch (const SweepErrors& errors) {
      found = errors.what();
    }
    EXPECT_FALSE(expected.empty()) << text;
    EXPECT_EQ(found, expected);
  }
}

TEST(CellCounter, CountsAMillionCells) {
  const SweepFiles files;
  const auto size = count(files,
                          "parameters:\n  train.lr: {logspace: [1e-4, 1e-2, 100]}\n"
                          "  train.weight_decay: {linspace: [0, 0.1, 100]}\nseeds: 100\n");
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->cells, 1000000U);
  EXPECT_EQ(size->structures, 1U);
}

}  // namespace cell_counter_test
}  // namespace depthgrid
