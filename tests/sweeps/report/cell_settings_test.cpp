#include "sweeps/report/cell_settings.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace cell_settings_test {

constexpr const char* kFile = R"(base: base.yaml
model: {n_heads: 2}
parameters:
  model.n_layers: [1, 2]
include:
  - {tag: wide, model.d_model: 32}
)";

/// One arm for each level and the included one, with one cell each.
CellSettings settings_with(const SweepFiles& files, const std::vector<std::string>& set = {}) {
  files.write("base.yaml", "model: {d_model: 16}\ndata: {corpus: synthetic:markov, seq_len: 16}\n");
  Sweep sweep =
      load_sweep({.file = files.write("sweep.yaml", kFile), .set = set, .leaf_sources = true});
  return {stored_plan(sweep), std::move(sweep.leaf_sources)};
}

CellSetting named(const CellSettings& settings, std::size_t row, const std::string& leaf) {
  const auto all = settings_of(settings, row);
  const auto at = std::ranges::find(all, leaf, &CellSetting::leaf);
  EXPECT_NE(at, all.end()) << leaf;
  return at == all.end() ? CellSetting() : *at;
}

TEST(CellSettings, SayWhichLineWroteALeaf) {
  const SweepFiles files;
  const CellSettings settings = settings_with(files, {"train.lr=1e-3"});
  struct Expected {
    std::size_t row;
    const char* leaf;
    const char* origin;
    int line;
  };
  for (const auto& [row, leaf, origin, line] :
       std::initializer_list<Expected>{{0, "model.d_model", "base", 1},
                                       {0, "model.n_heads", "file", 2},
                                       {1, "model.n_layers", "factor", 4},
                                       {2, "model.d_model", "row", 6},
                                       {0, "train.lr", "set", 1},
                                       {0, "train.steps", "default", 0},
                                       {0, "seed", "seeds", 0}}) {
    const CellSetting setting = named(settings, row, leaf);
    EXPECT_EQ(setting.origin, origin) << leaf;
    EXPECT_EQ(setting.line, line) << leaf;
  }
  EXPECT_EQ(named(settings, 0, "train.lr").text, "train.lr=1e-3");
  EXPECT_EQ(named(settings, 2, "model.d_model").value, Value(32));
  EXPECT_TRUE(named(settings, 0, "model.d_model").file.ends_with("base.yaml"));
}

TEST(CellSettings, OfAStoreSayWhatIsNotADefault) {
  const SweepFiles files;
  CellSettings settings = settings_with(files);
  settings.leaf_sources.clear();
  EXPECT_EQ(named(settings, 0, "model.d_model").origin, "set");
  EXPECT_EQ(named(settings, 0, "train.lr").origin, "default");
  EXPECT_NE(settings_text(settings, 0, false).find("depthgrid show CELL FILE"), std::string::npos);
}

TEST(CellSettings, LeaveOutWhatTheCellDoesNotReadUnlessAsked) {
  const SweepFiles files;
  const CellSettings settings = settings_with(files);
  EXPECT_FALSE(named(settings, 0, "model.modulation.hidden").read);
  EXPECT_EQ(settings_text(settings, 0, false).find("model.modulation.hidden"), std::string::npos);
  EXPECT_NE(settings_text(settings, 0, true).find("model.modulation.hidden"), std::string::npos);
  const auto json = parse_json(settings_json(settings, 2));
  EXPECT_EQ(json["tag"], "wide");
  EXPECT_EQ(json["leaves"].size(), settings_of(settings, 2).size());
}

TEST(CellSettings, DifferWhereOneOfTwoCellsReadsAnotherValue) {
  const SweepFiles files;
  const CellSettings settings = settings_with(files);
  const auto json = parse_json(difference_json(settings, 0, 1));
  EXPECT_EQ(json["same_structure"], false);
  bool layers = false;
  for (const auto& leaf : json["leaves"]) {
    EXPECT_NE(leaf["a"], leaf["b"]) << leaf;
    layers = layers || (leaf["leaf"] == "model.n_layers" && leaf["a"] == 1 && leaf["b"] == 2);
  }
  EXPECT_TRUE(layers) << json;
  EXPECT_NE(difference_text(settings, 0, 0).find("have the same configuration"), std::string::npos);
}

}  // namespace cell_settings_test
}  // namespace depthgrid
