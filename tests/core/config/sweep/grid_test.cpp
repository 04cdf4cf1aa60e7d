#include "core/config/sweep/grid.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace grid_test {

using Names = std::vector<std::string>;

TEST(Grid, ProductVariesTheFirstFactorSlowestAndSeedsFastest) {
  const Sweep sweep = SweepFiles().load(R"(
parameters:
  model.n_layers: [2, 3]
  train.lr: [1e-3, 1e-4]
seeds: 2
)");
  EXPECT_EQ(aliases(sweep),
            (Names{"n_layers=2,lr=0.001,s0", "n_layers=2,lr=0.001,s1", "n_layers=2,lr=1e-4,s0",
                   "n_layers=2,lr=1e-4,s1", "n_layers=3,lr=0.001,s0", "n_layers=3,lr=0.001,s1",
                   "n_layers=3,lr=1e-4,s0", "n_layers=3,lr=1e-4,s1"}));
  EXPECT_EQ(sweep.cells[3].seed, 1);
  EXPECT_EQ(sweep.cells[3].replicate, 1);
  EXPECT_EQ(sweep.cells[3].config.integer("model.seed"), 1);
  EXPECT_EQ(sweep.cells[3].config.real("train.lr"), 1e-4);
  EXPECT_EQ(sweep.cells[5].row, 5);
  EXPECT_TRUE(sweep.cells[1].baseline);
  EXPECT_FALSE(sweep.cells[2].baseline);
  EXPECT_EQ(canonical_json(Value(sweep.cells[4].overrides)),
            R"({"model.n_layers":3,"train.lr":0.001})");
  EXPECT_EQ(sweep.cells[0].structure, sweep.cells[2].structure);
  EXPECT_NE(sweep.cells[0].structure, sweep.cells[4].structure);
}

TEST(Grid, AllFormsOfLevels) {
  const Sweep sweep = SweepFiles().load(R"(
parameters:
  model.n_layers: {values: [2]}
  train.beta1: {value: 0.5}
  train.beta2: {linspace: [0.9, 0.99, 4]}
  train.lr: {logspace: [1e-4, 1e-2, 3]}
  train.eps: 1e-7
  eval.splits: {value: [train, valid]}
)");
  ASSERT_EQ(sweep.cells.size(), 12U);
  EXPECT_EQ(sweep.cells[1].config.real("train.lr"), 1e-3);
  EXPECT_EQ(sweep.cells[3].config.real("train.beta2"), 0.93);
  EXPECT_EQ(sweep.cells[0].config.words("eval.splits"), (Names{"train", "valid"}));
  EXPECT_EQ(sweep.cells[0].alias, "beta2=0.9,lr=1e-4,s0");  // fixed ones are not in the name
}

TEST(Grid, RangesAndWrittenLevelsGiveTheSameCells) {
  const SweepFiles files;
  const Sweep range = files.load("parameters: {train.lr: {logspace: [1e-5, 1e-1, 5]}}\n");
  const Sweep list = files.load("parameters: {train.lr: [1e-5, 0.0001, 0.001, 1e-2, 0.1]}\n");

  ASSERT_EQ(range.cells.size(), list.cells.size());
  for (std::size_t i = 0; i < range.cells.size(); ++i) {
    EXPECT_EQ(range.cells[i].id, list.cells[i].id);
  }
}

TEST(Grid, IntegerRangesAreIntegers) {
  const SweepFiles files;
  const Sweep sweep = files.load("parameters: {model.n_layers: {linspace: [2, 8, 4]}}\n");

  EXPECT_EQ(arms(sweep), (Names{"n_layers=2", "n_layers=4", "n_layers=6", "n_layers=8"}));
  EXPECT_NE(files.messages("parameters: {model.n_layers: {linspace: [2, 3, 3]}}\n").find("2.5"),
            std::string::npos);
}

TEST(Grid, ZipMovesColumnsTogether) {
  const Sweep sweep = SweepFiles().load(R"(
parameters: {train.lr: [1e-3, 1e-4]}
zip:
  - {model.d_model: [32, 64], model.n_heads: [2, 4]}
)");
  EXPECT_EQ(arms(sweep), (Names{"lr=0.001,d_model=32,n_heads=2", "lr=0.001,d_model=64,n_heads=4",
                                "lr=1e-4,d_model=32,n_heads=2", "lr=1e-4,d_model=64,n_heads=4"}));
}

TEST(Grid, WhenAddsFactorsOnlyWhereItsConditionHolds) {
  const Sweep sweep = SweepFiles().load(R"(
parameters: {model.positions: [learned, rope]}
when:
  - {if: {model.positions: [rope, none]}, parameters: {model.rope_base: [500, 10000]}}
)");
  EXPECT_EQ(arms(sweep), (Names{"positions=learned", "positions=rope,rope_base=500",
                                "positions=rope,rope_base=10000"}));
  EXPECT_EQ(canonical_json(Value(sweep.cells[0].overrides)), R"({"model.positions":"learned"})");
}

TEST(Grid, ConditionsSeeDerivedValues) {
  const Sweep sweep = SweepFiles().load(R"(
parameters: {model.family: [standard, time_indexed]}
when:
  - {if: {model.sublayers: parallel}, parameters: {train.lr: [1e-3, 1e-4]}}
)");
  EXPECT_EQ(arms(sweep), (Names{"family=standard", "family=time_indexed,lr=0.001",
                                "family=time_indexed,lr=1e-4"}));
}

TEST(Grid, ExcludeDropsPartialMatchesAndSaysWhenItDropsNone) {
  const Sweep sweep = SweepFiles().load(R"(
parameters:
  model.n_layers: [2, 3]
  train.lr: [1e-3, 1e-4]
exclude:
  - {model.n_layers: 3, train.lr: [1e-4, 1]}
  - {model.n_layers: 9}
)");
  EXPECT_EQ(arms(sweep),
            (Names{"n_layers=2,lr=0.001", "n_layers=2,lr=1e-4", "n_layers=3,lr=0.001"}));
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find(":7:5: "), std::string::npos);
}

TEST(Grid, AWhenRowThatHoldsForNoCellIsNoted) {
  const std::string when =
      "parameters: {train.lr: [1e-3, 1e-4]}\n"
      "when:\n"
      "  - {if: {train.lr: 1e-3}, parameters: {train.batch_size: [2, 4]}}\n";
  EXPECT_TRUE(SweepFiles().load(when).notes.empty());

  const Sweep sweep =
      SweepFiles().load(when +
                        "  - {if: {train.lr: 5e-3}, parameters: {train.steps: [5]}}\n"
                        "include: [{train.lr: 2e-3, tag: row}]\n");
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find(":4:5: "), std::string::npos) << sweep.notes[0];
}

TEST(Grid, OneSeedWhereSeveralMayBeMeantIsNoted) {
  EXPECT_TRUE(SweepFiles().load("seeds: 3\n").notes.empty());
  EXPECT_TRUE(SweepFiles().load("seed: 1\n").notes.empty());
  const Sweep sweep = SweepFiles().load("seed: 3\n");
  EXPECT_EQ(sweep.cells.size(), 1U);
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find("`seeds: 3` is 3 runs"), std::string::npos) << sweep.notes[0];
}

TEST(Grid, AnEmptyFileIsNoSweep) {
  for (const char* text : {"", "# only a comment\n", "{}\n", "---\n"}) {
    const auto problems = SweepFiles().problems(text);
    ASSERT_EQ(problems.size(), 1U) << text;
    EXPECT_NE(problems[0].message.find("empty"), std::string::npos);
  }
}

TEST(Grid, ExcludeMatchesOneOverLByWordAndByNumber) {
  const SweepFiles files;
  const std::string grid = "model: {n_layers: 4}\nparameters: {model.residual.scale: [1, 1/L]}\n";

  EXPECT_EQ(files.load(grid + "exclude: [{model.residual.scale: 1/L}]\n").cells.size(), 1U);
  EXPECT_EQ(files.load(grid + "exclude: [{model.residual.scale: 0.25}]\n").cells.size(), 1U);
}

TEST(Grid, IncludeRowsStartFromTheBaselineAndDropWhatTheyDoNotRead) {
  const Sweep sweep = SweepFiles().load(R"(
model: {family: time_indexed, time_features: {frequencies: 8}}
parameters:
  model.modulation.hidden: [32, 64]
  train.lr: [1e-2, 1e-3]
include:
  - {model.family: standard, tag: plain}
  - {model.modulation.hidden: 16}
)");
  ASSERT_EQ(sweep.cells.size(), 6U);
  const CellPlan& plain = cell_named(sweep, "plain,s0");
  EXPECT_EQ(plain.tag, "plain");
  EXPECT_EQ(plain.config.real("train.lr"), 1e-2);
  EXPECT_EQ(plain.id, cell_id(make_config({{"train.lr", 1e-2}})));
  EXPECT_EQ(cell_named(sweep, "hidden=16,s0").config.integer("model.modulation.hidden"), 16);
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find("`model.time_features.frequencies`"), std::string::npos);
  EXPECT_NE(sweep.notes[0].find("`model.modulation.hidden`"), std::string::npos);
}

TEST(Grid, AnIncludeRowMayNotNameWhatItDoesNotRead) {
  const std::string text = SweepFiles().messages(R"(
include:
  - {model.family: standard, model.modulation.hidden: 8}
)");
  EXPECT_NE(text.find("3:30: `model.modulation.hidden`"), std::string::npos) << text;
}

TEST(Grid, ThePresetOfAnIncludeRowWinsOverTheBaselinesLevels) {
  const Sweep sweep = SweepFiles().load(R"(
parameters: {model.positions: [learned, rope]}
include:
  - {model.preset: published/time_indexed_mlp, tag: published}
)");
  EXPECT_EQ(cell_named(sweep, "published,s0").id,
            cell_id(make_config({{"model.preset", "published/time_indexed_mlp"}})));
}

TEST(Grid, ThePresetOfAnIncludeRowWinsOverTheFixedPart) {
  const SweepFiles files;
  constexpr const char* kText = R"(
model: {family: time_indexed, d_model: 64, n_layers: 2, n_heads: 2, modulation: {hidden: 32}}
method: list
include:
  - {model.preset: published/tong, tag: tong}
  - {model.preset: published/time_indexed_mlp, model.modulation.hidden: 16, tag: mlp}
)";
  const Sweep sweep = files.load(kText);
  const Sweep small = files.load(kText, {"model.d_model=32"});

  EXPECT_EQ(cell_named(sweep, "tong,s0").id,
            cell_id(make_config({{"model.preset", "published/tong"}})));
  EXPECT_EQ(cell_named(sweep, "mlp,s0").id,  // what the row says itself wins
            cell_id(make_config({{"model.preset", "published/time_indexed_mlp"},
                                 {"model.modulation.hidden", std::int64_t{16}}})));
  for (const CellPlan& cell : small.cells) EXPECT_EQ(cell.config.integer("model.d_model"), 32);
}

TEST(Grid, TheFixedPartWinsOverAPresetThatIsALevelAndSaysSo) {
  const Sweep sweep = SweepFiles().load(R"(
model: {n_layers: 2}
parameters: {model.preset: [published/tong, published/time_indexed_mlp]}
)");
  ASSERT_EQ(sweep.cells.size(), 2U);
  for (const CellPlan& cell : sweep.cells) EXPECT_EQ(cell.config.integer("model.n_layers"), 2);
  ASSERT_FALSE(sweep.notes.empty());
  EXPECT_NE(sweep.notes[0].find("`model.n_layers`"), std::string::npos) << sweep.notes[0];
}

TEST(Grid, AblationChangesOneFactorAtATime) {
  const Sweep sweep = SweepFiles().load(R"(
method: ablation
parameters:
  model.n_layers: [6, 4]
  train.lr: [1e-3, 1e-4, 1e-5]
baseline: {train.lr: 1e-4}
)");
  EXPECT_EQ(arms(sweep), (Names{"baseline", "n_layers=4", "lr=0.001", "lr=1e-5"}));
  EXPECT_TRUE(sweep.cells[0].baseline);
  EXPECT_EQ(sweep.cells[0].config.real("train.lr"), 1e-4);
  EXPECT_EQ(sweep.cells[0].factor, "");
  EXPECT_EQ(sweep.cells[1].factor, "model.n_layers");
  EXPECT_EQ(sweep.cells[1].config.real("train.lr"), 1e-4);
  EXPECT_EQ(sweep.cells[2].factor, "train.lr");
}

TEST(Grid, AblationWithPairsAddsEveryPairOfChanges) {
  const Sweep sweep = SweepFiles().load(R"(
method: ablation
pairs: true
parameters:
  model.n_layers: [6, 4]
  train.lr: [1e-3, 1e-4, 1e-5]
)");
  EXPECT_EQ(arms(sweep), (Names{"baseline", "n_layers=4", "lr=1e-4", "lr=1e-5",
                                "n_layers=4,lr=1e-4", "n_layers=4,lr=1e-5"}));
  EXPECT_EQ(sweep.cells[5].factor, "model.n_layers+train.lr");
}

TEST(Grid, AblationOfAFamilyDropsWhatTheOtherFamilyDoesNotRead) {
  const Sweep sweep = SweepFiles().load(R"(
method: ablation
parameters:
  model.family: [time_indexed, standard]
  model.modulation.hidden: [64, 32]
)");
  EXPECT_EQ(arms(sweep), (Names{"baseline", "family=standard", "hidden=32"}));
  EXPECT_EQ(sweep.notes.size(), 1U);
}

TEST(Grid, ListHasIncludeRowsOnly) {
  const SweepFiles files;
  const Sweep sweep = files.load(R"(
method: list
parameters: {train.lr: {value: 1e-3}}
include:
  - {model.n_layers: 2, tag: two}
  - {model.n_layers: 3}
)");
  EXPECT_EQ(arms(sweep), (Names{"two", "n_layers=3"}));
  EXPECT_TRUE(sweep.cells[0].baseline);
  EXPECT_EQ(sweep.cells[1].config.real("train.lr"), 1e-3);
  EXPECT_NE(files.messages("method: list\n").find("zero cells"), std::string::npos);
  EXPECT_NE(files.messages("method: list\nparameters: {train.lr: [1, 2]}\ninclude: [{tag: a}]\n")
                .find("`method: list`"),
            std::string::npos);
}

TEST(Grid, DuplicateCellsAreMergedAndNoted) {
  const Sweep sweep = SweepFiles().load(R"(
model: {n_layers: 4}
parameters: {model.residual.scale: [0.25, 1/L, 1]}
include: [{model.residual.scale: 1, tag: one}]
)");
  EXPECT_EQ(arms(sweep), (Names{"scale=0.25", "scale=1"}));
  EXPECT_EQ(sweep.cells[1].tag, "one");
  ASSERT_EQ(sweep.notes.size(), 2U);
  EXPECT_NE(sweep.notes[0].find("scale=1/L"), std::string::npos) << sweep.notes[0];
  EXPECT_NE(sweep.notes[0].find("scale=0.25,s0"), std::string::npos) << sweep.notes[0];
}

TEST(Grid, ALevelThatIsThereTwiceIsSaid) {
  const Sweep sweep = SweepFiles().load("parameters: {train.lr: [1e-3, 1e-2, 0.001]}\n");
  EXPECT_EQ(sweep.cells.size(), 2U);
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find("`train.lr`"), std::string::npos) << sweep.notes[0];
  EXPECT_NE(sweep.notes[0].find("lr=0.001,s0"), std::string::npos) << sweep.notes[0];
}

TEST(Grid, TheBaselineCanBeNamedByLevelByLeafOrByTag) {
  const SweepFiles files;
  const std::string grid = R"(
parameters: {model.n_layers: [2, 3, 4]}
include: [{model.family: time_indexed, tag: timed}]
)";
  EXPECT_EQ(files.load(grid).baseline_arm, "n_layers=2");
  EXPECT_EQ(files.load(grid + "baseline: {model.n_layers: 3}\n").baseline_arm, "n_layers=3");
  EXPECT_EQ(files.load(grid + "baseline: {tag: timed}\n").baseline_arm, "timed");
  EXPECT_EQ(files.load(grid + "baseline: {model.family: time_indexed}\n").baseline_arm, "timed");
  EXPECT_NE(files.messages(grid + "baseline: {model.n_layers: 9}\n").find("`baseline`"),
            std::string::npos);
  EXPECT_NE(files.messages(grid + "baseline: {tag: tamed}\n").find("timed"), std::string::npos);
}

TEST(Grid, SeedsAreANumberOrAList) {
  const SweepFiles files;

  EXPECT_EQ(aliases(files.load("seeds: [7, 3]\n")), (Names{"baseline,s7", "baseline,s3"}));
  EXPECT_EQ(files.load("seed: 5\n").cells[0].seed, 5);
  EXPECT_NE(files.messages("seed: 5\nseeds: 2\n").find("`seeds`"), std::string::npos);
  EXPECT_NE(files.messages("seeds: [1, 1]\n").find("twice"), std::string::npos);
  EXPECT_NE(files.messages("seeds: []\n").find("zero cells"), std::string::npos);
  EXPECT_NE(files.messages("parameters: {model.seed: [1, 2]}\n").find("`model.seed`"),
            std::string::npos);
}

TEST(Grid, AFixedDataSeedIsSharedByTheReplicates) {
  const Sweep sweep = SweepFiles().load("data: {seed: 9}\nseeds: 2\n");

  EXPECT_EQ(sweep.cells[1].config.integer("data.seed"), 9);
  EXPECT_EQ(sweep.cells[1].config.integer("model.seed"), 1);
}

TEST(Grid, ShuffledOrderIsFixedByItsSeed) {
  const SweepFiles files;
  const std::string grid = "parameters: {train.lr: {linspace: [0.01, 0.5, 50]}}\n";
  const auto file = arms(files.load(grid));
  const auto one = arms(files.load(grid + "order: shuffled(1)\n"));
  const auto again = arms(files.load(grid + "order: shuffled(1)\n"));
  const auto two = arms(files.load(grid + "order: shuffled(2)\n"));

  EXPECT_EQ(one, again);
  EXPECT_NE(one, two);
  EXPECT_NE(one, file);
  EXPECT_EQ(std::set<std::string>(one.begin(), one.end()),
            std::set<std::string>(file.begin(), file.end()));
}

TEST(Grid, ZeroCellsAreAnError) {
  EXPECT_NE(SweepFiles()
                .messages("parameters: {train.lr: [1, 2]}\nexclude: [{model.family: standard}]\n")
                .find("zero cells"),
            std::string::npos);
}

TEST(Grid, NamesGrowUntilTheyAreUnique) {
  const Sweep sweep = SweepFiles().load(R"(
parameters:
  train.lr: [1e-3, 1e-4]
  train.groups.head.lr: [1, 2]
  model.family: [standard]
)");
  EXPECT_EQ(sweep.cells[0].arm, "train.lr=0.001,head.lr=1");
  std::set<std::string> names;
  for (const auto& cell : sweep.cells) names.insert(cell.alias);
  EXPECT_EQ(names.size(), sweep.cells.size());
}

TEST(Grid, NamesHaveThreeDigitsWhereTheseAreEnough) {
  const SweepFiles files;
  EXPECT_EQ(
      arms(files.load("parameters: {train.lr: {logspace: [1e-4, 1e-2, 5]}}\n")),
      (std::vector<std::string>{"lr=1e-4", "lr=0.000316", "lr=0.001", "lr=0.00316", "lr=0.01"}));
  EXPECT_EQ(arms(files.load("parameters: {train.lr: [0.00123401, 0.00123402, 0.0123456]}\n")),
            (std::vector<std::string>{"lr=0.00123401", "lr=0.00123402", "lr=0.0123"}));
}

TEST(Grid, AFactorWinsOverAFixedValueOfTheSameFileAndSaysSo) {
  const SweepFiles files;
  const Sweep sweep = files.load("train: {lr: 1e-3}\nparameters: {train.lr: [1e-4, 1e-2]}\n");
  EXPECT_EQ(arms(sweep), (std::vector<std::string>{"lr=1e-4", "lr=0.01"}));
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find("`train.lr`"), std::string::npos) << sweep.notes[0];
  EXPECT_NE(sweep.notes[0].find("line 2"), std::string::npos) << sweep.notes[0];
}

}  // namespace grid_test
}  // namespace depthgrid
