#include "core/config/presets.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"
#include "core/config/schema/value_pool.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {
namespace presets_test {

std::vector<std::string> preset_names() {
  return split_words(schema()[leaf_index("model.preset")].words);
}

TEST(Presets, NameEachLeafOnceAndOnlyLeavesOfTheModel) {
  for (const std::string& preset : preset_names()) {
    ValuePool pool;
    std::set<std::size_t> seen;
    for (const PresetLeaf& one : preset_leaves(preset, pool)) {
      EXPECT_TRUE(seen.insert(one.leaf).second) << preset << ": " << schema()[one.leaf].path;
      EXPECT_TRUE(schema()[one.leaf].path.starts_with("model.")) << preset;
    }
  }
}

TEST(Presets, AreMadeOfTheirParts) {
  const CellConfig ode = make_config({{"model.preset", "hybrid/ode"}});
  EXPECT_EQ(ode.integer("model.d_ff"), 1024);                // of both arms
  EXPECT_EQ(ode.word("model.field.kind"), "attention_mlp");  // its own
  const CellConfig tong = make_config({{"model.preset", "published/tong"}});
  EXPECT_EQ(tong.integer("model.time_features.frequencies"), 32);
  EXPECT_EQ(tong.word("model.share"), "all");
}

TEST(Presets, AnUnknownNameIsABug) {
  ValuePool pool;
  EXPECT_THROW(preset_leaves("gpt5", pool), Error);
  EXPECT_TRUE(preset_deviations("gpt5").empty());
}

TEST(PresetDeviations, EveryPublishedPresetHasSomeAndNoOther) {
  for (const std::string& preset : preset_names()) {
    ValuePool pool;
    EXPECT_FALSE(preset_leaves(preset, pool).empty()) << preset;
    const bool published = preset.starts_with("published/") || preset.starts_with("hybrid/");
    EXPECT_EQ(published, !preset_deviations(preset).empty()) << preset;
  }
}

TEST(PresetChanges, NamesWhatACellHasOtherwiseThanItsPreset) {
  const CellConfig pure = make_config({{"model.preset", "published/time_indexed_mlp"}});
  const CellConfig changed = make_config({{"model.preset", "published/time_indexed_mlp"},
                                          {"model.n_layers", std::int64_t{2}},
                                          {"model.sublayers", "parallel"}});
  const std::vector<PresetChange> changes = preset_changes(changed);

  EXPECT_TRUE(preset_changes(pure).empty());
  EXPECT_TRUE(preset_changes(make_config({})).empty());
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].leaf, "model.n_layers");
  EXPECT_EQ(changes[0].preset, "6");
  EXPECT_EQ(changes[0].here, "2");
  EXPECT_EQ(changes[1].here, R"("parallel")");
}

TEST(PresetChanges, ThePublishedArmsAreThePublishedModels) {
  const Sweep sweep =
      load_sweep({DEPTHGRID_SOURCE_DIR "/configs/study1/published.yaml", {"seeds=1"}});
  std::set<std::string> presets;
  for (const CellPlan& cell : sweep.cells) {
    presets.insert(cell.config.word("model.preset"));
    for (const PresetChange& change : preset_changes(cell.config)) {
      ADD_FAILURE() << cell.alias << ": " << change.leaf << " is " << change.here << ", not "
                    << change.preset;
    }
  }
  EXPECT_EQ(presets,
            (std::set<std::string>{"published/standard", "published/tong",
                                   "published/time_indexed_mlp", "published/time_indexed_ssm"}));
}

}  // namespace presets_test
}  // namespace depthgrid
