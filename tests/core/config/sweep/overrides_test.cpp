#include "core/config/sweep/overrides.hpp"

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace overrides_test {

using Names = std::vector<std::string>;

constexpr const char* kGrid = R"(
name: grid
train: {steps: 100}
parameters:
  model.n_layers: [2, 3]
  train.lr: [1e-3, 1e-4]
zip:
  - {model.d_model: [32, 64], model.n_heads: [2, 4]}
seeds: 2
)";

TEST(Overrides, AFixedLeafIsReplaced) {
  const Sweep sweep = SweepFiles().load(kGrid, {"train.steps=7"});

  EXPECT_EQ(sweep.cells.size(), 16U);
  EXPECT_EQ(sweep.cells[0].config.integer("train.steps"), 7);
}

TEST(Overrides, OneValueFixesAFactor) {
  const Sweep sweep = SweepFiles().load(kGrid, {"train.lr=0.5", "seeds=1"});

  EXPECT_EQ(arms(sweep),
            (Names{"n_layers=2,d_model=32,n_heads=2", "n_layers=2,d_model=64,n_heads=4",
                   "n_layers=3,d_model=32,n_heads=2", "n_layers=3,d_model=64,n_heads=4"}));
  EXPECT_EQ(sweep.cells[0].config.real("train.lr"), 0.5);
}

TEST(Overrides, AColumnOfAZipCanBeFixed) {
  const Sweep sweep =
      SweepFiles().load(kGrid, {"model.n_heads=1", "train.lr=1", "model.n_layers=1", "seeds=1"});

  EXPECT_EQ(arms(sweep), (Names{"d_model=32", "d_model=64"}));
  EXPECT_EQ(sweep.cells[1].config.integer("model.n_heads"), 1);
}

TEST(Overrides, OneSeedIsNotSoManyRuns) {
  const Sweep one = SweepFiles().load(kGrid, {"seed=3"});
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_NE(one.notes[0].find("seeds=3"), std::string::npos) << one.notes[0];
  EXPECT_TRUE(SweepFiles().load(kGrid, {"seed=3,4"}).notes.empty());
  EXPECT_TRUE(SweepFiles().load(kGrid, {"seed=1"}).notes.empty());
}

TEST(Overrides, AZipsColumnKeepsItsLength) {
  EXPECT_NE(SweepFiles().messages(kGrid, {"model.n_heads=1,2,4"}).find("1:1: "), std::string::npos);
}

TEST(Overrides, ACommaMakesAFactor) {
  const Sweep sweep = SweepFiles().load("train: {lr: 1}\n", {"train.lr=1e-3,1e-4"});

  EXPECT_EQ(arms(sweep), (Names{"lr=0.001", "lr=1e-4"}));
}

TEST(Overrides, ALevelListReplacesTheFilesLevels) {
  EXPECT_EQ(SweepFiles().load(kGrid, {"train.lr=1,2,3"}).cells.size(), 24U);
}

TEST(Overrides, BracketsAreAListValue) {
  const Sweep one = SweepFiles().load("name: x\n", {"eval.splits=[train, valid]"});
  const Sweep two = SweepFiles().load("name: x\n", {"eval.splits=[train,valid],[valid]"});

  EXPECT_EQ(one.cells.size(), 1U);
  EXPECT_EQ(one.cells[0].config.words("eval.splits"), (Names{"train", "valid"}));
  EXPECT_EQ(arms(two), (Names{"splits=train+valid", "splits=valid"}));
}

TEST(Overrides, ListsAndRangesAreLevelsAsInAFile) {
  const Names rates = {"lr=1e-4", "lr=0.001", "lr=0.01"};
  for (const char* text :
       {"train.lr=[1e-4, 1e-3, 1e-2]", "train.lr={values: [1e-4, 1e-3, 1e-2]}",
        "train.lr={logspace: [1e-4, 1e-2, 3]}", "train.lr=logspace(1e-4,1e-2,3)"}) {
    EXPECT_EQ(arms(SweepFiles().load("name: x\n", {text})), rates) << text;
  }
  EXPECT_EQ(arms(SweepFiles().load("parameters: {model.n_layers: [5, 6]}\n",
                                   {"model.n_layers=linspace(1,3,3)"})),
            (Names{"n_layers=1", "n_layers=2", "n_layers=3"}));
  EXPECT_EQ(SweepFiles().load("name: x\n", {"train.lr={value: 1e-3}"}).cells.size(), 1U);
  EXPECT_NE(SweepFiles().messages("name: x\n", {"train.lr=logspace(1e-4,1e-2)"}).find("`logspace`"),
            std::string::npos);
}

TEST(Overrides, KeysOfTheSweepWork) {
  const Sweep sweep =
      SweepFiles().load(kGrid, {"name=other", "seeds=[4]", "metric.name=final_loss.valid",
                                "order=shuffled(2)", "tags=a,b", "description=short"});
  EXPECT_EQ(sweep.name, "other");
  EXPECT_EQ(sweep.cells.size(), 8U);
  EXPECT_EQ(sweep.cells[0].seed, 4);
  EXPECT_EQ(sweep.metric, "final_loss.valid");
  EXPECT_EQ(sweep.order, "shuffled(2)");
  EXPECT_EQ(sweep.tags, (Names{"a", "b"}));
  EXPECT_EQ(SweepFiles().load(kGrid, {"seed=5,6,7"}).seeds, 3);
  EXPECT_EQ(SweepFiles().load(kGrid, {"seed=5"}).cells[0].seed, 5);
}

TEST(Overrides, LeavesUnderWhenStayUnderTheirCondition) {
  const Sweep sweep = SweepFiles().load(R"(
parameters: {model.positions: [learned, rope]}
when: [{if: {model.positions: rope}, parameters: {model.rope_base: [500, 1000]}}]
)",
                                        {"model.rope_base=77"});
  EXPECT_EQ(arms(sweep), (Names{"positions=learned", "positions=rope"}));
  EXPECT_EQ(sweep.cells[1].config.real("model.rope_base"), 77.0);
}

TEST(Overrides, ABaselineLevelThatIsGoneIsLeftOut) {
  const Sweep sweep =
      SweepFiles().load(std::string(kGrid) + "baseline: {train.lr: 1e-4}\n", {"train.lr=1,2"});
  EXPECT_EQ(sweep.baseline_arm, "n_layers=2,lr=1,d_model=32,n_heads=2");
  EXPECT_EQ(sweep.notes.size(), 1U);
}

TEST(Overrides, ProblemsNameTheOption) {
  const auto problem = [](const std::string& setting) {
    const auto all = SweepFiles().problems("name: x\n", {setting});
    return all.empty() ? "" : all.front().text();
  };
  EXPECT_TRUE(problem("train.lr=fast").starts_with("--set:1:10: `train.lr`: "));
  EXPECT_TRUE(problem("train.lr=fast").ends_with("\n  1 | train.lr=fast\n    |          ^"));
  EXPECT_NE(problem("train.lrs=1").find("'train.lr'"), std::string::npos);
  EXPECT_NE(problem("train.lr").find("key=value"), std::string::npos);
  EXPECT_NE(problem("train.lr=").find("--set:1:10: "), std::string::npos);
  EXPECT_NE(problem("train=1").find("--set:1:1: `train`"), std::string::npos);
  EXPECT_NE(problem("resources.threads=1,2").find("--set:1:1: `resources.threads`"),
            std::string::npos);
  EXPECT_NE(problem("base=x.yaml").find("--set:1:1: `base`"), std::string::npos);
  EXPECT_NE(problem("train.lr=[1").find("--set:1:9: "), std::string::npos);
  EXPECT_NE(problem("train.steps=010").find("--set:1:13: `train.steps`"), std::string::npos);
}

}  // namespace overrides_test
}  // namespace depthgrid
