#include "sweeps/report/provenance_notes.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace provenance_notes_test {

/// A finished cell per text of settings, of corpus `file`.
Listing listing(const std::vector<std::string>& settings) {
  Listing out;
  out.leaves.sets = {{{"data.corpus", "file"}}};
  for (const std::string& text : settings) {
    CellSummary cell;
    cell.settings = text;
    cell.step = 10;
    out.cells.push_back(cell);
    out.leaves.of_cell.push_back(0);
  }
  return out;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ProvenanceNotes, SettingsThatDifferBetweenCellsAreCounted) {
  const Listing cells = listing({"fp32 deterministic=on threads=1 ranks=1 device=cpu",
                                 "bf16 deterministic=off threads=2 ranks=1 device=cpu",
                                 "fp32 deterministic=on threads=2 ranks=1 device=cpu", ""});
  const auto mixed = mixed_settings(cells, {0, 1, 2, 3});
  ASSERT_EQ(mixed.size(), 1U);  // of precision the identity tells; determinism: none on a CPU
  EXPECT_EQ(mixed.at("threads"), (std::map<std::string, std::size_t>{{"1", 1}, {"2", 2}}));
  EXPECT_TRUE(has(provenance_notes(cells, {0, 1, 2, 3}), "threads=1 (1), threads=2 (2): sums"));
  EXPECT_EQ(provenance_notes(cells, {1, 2, 3}), "");
}

TEST(ProvenanceNotes, AGpuBesideACpuAndItsDeterminismCount) {
  const Listing cells = listing({"fp32 deterministic=on threads=1 ranks=1",  // before `device` was
                                 "tf32 deterministic=off threads=1 ranks=2 device=cuda",
                                 "fp32 deterministic=on threads=1 ranks=1 device=cpu"});
  const auto mixed = mixed_settings(cells, {0, 1, 2});
  EXPECT_TRUE(mixed.contains("device") && mixed.contains("ranks"));
  EXPECT_TRUE(mixed_settings(cells, {0, 1}).contains("deterministic"));
}

TEST(ProvenanceNotes, OnlyCellsOnTokensOfOlderRulesAreSaid) {
  Listing cells = listing({"", "", ""});
  EXPECT_TRUE(older_text_rules(cells, {0, 1, 2}).empty());  // of a store that began with these
  cells.older_rules = {{"file", 1}, {"self", 1}};
  cells.cells[1].facts["text_rules"] = 2;
  cells.cells[2].step = 0;
  EXPECT_EQ(older_text_rules(cells, {0, 1, 2}), (std::map<std::string, int>{{"file", 1}}));
  EXPECT_TRUE(has(provenance_notes(cells, {0, 1, 2}),
                  "1 cell of 'file' was trained on tokens by text rules 1"));
  EXPECT_EQ(provenance_notes(cells, {1, 2}), "");
}

}  // namespace provenance_notes_test
}  // namespace depthgrid
