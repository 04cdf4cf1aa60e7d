// `model.init.from: arm:` and `cell:`: which cell is meant, what it does to ids and structures, and
// what is refused.
#include "core/config/sweep/start_cells.hpp"

#include <map>

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace start_cells_test {

constexpr const char* kHead = R"(name: two
model: {d_model: 16, n_layers: 2}
data: {corpus: synthetic:markov}
seeds: [3, 5]
)";

/// Phase B stands before phase A in the file.
constexpr const char* kPhases = R"(parameters:
  model.init.from: [arm:phase_a]
  train.lr: [1e-3, 2e-3]
include:
  - {tag: phase_a, model.init.from: null}
  - {tag: third, model.init.from: arm:second}
  - {tag: second, train.lr: 3e-3, model.init.from: arm:phase_a}
)";

class StartCellsOf : public ::testing::Test {
 protected:
  Sweep load(const std::string& rest) const { return files_.load(kHead + listed(rest)); }
  std::string messages(const std::string& rest) const {
    return files_.messages(kHead + listed(rest));
  }
  /// Without parameters the arms are a list: a grid of none would add the cell of all defaults.
  static std::string listed(const std::string& rest) {
    return rest.starts_with("include:") ? "method: list\n" + rest : rest;
  }
  SweepFiles files_;
};

TEST_F(StartCellsOf, AnArmMeansItsCellOfTheSameSeed) {
  const Sweep sweep = load(kPhases);
  ASSERT_EQ(sweep.cells.size(), 10U);
  for (const char* seed : {"s3", "s5"}) {
    const std::string s = std::string(",") + seed;
    const CellPlan& a = cell_named(sweep, "phase_a" + s);
    EXPECT_EQ(start_cell(a.config), std::nullopt);
    EXPECT_EQ(start_cell(cell_named(sweep, "from=arm:phase_a,lr=0.001" + s).config), a.id);
    EXPECT_EQ(start_cell(cell_named(sweep, "second" + s).config), a.id);
    EXPECT_EQ(start_cell(cell_named(sweep, "third" + s).config),
              cell_named(sweep, "second" + s).id);
  }
  EXPECT_EQ(start_depth(cell_named(sweep, "phase_a,s3").config), 0);
  EXPECT_EQ(start_depth(cell_named(sweep, "second,s3").config), 1);
  EXPECT_EQ(start_depth(cell_named(sweep, "third,s3").config), 2);
  EXPECT_EQ(sweep.starts.size(), 8U);
}

TEST_F(StartCellsOf, TheIdOfTheSourceIsPartOfTheIdAndNothingElseOfItsName) {
  const Sweep sweep = load(kPhases);
  std::string renamed = kPhases;
  for (std::size_t at; (at = renamed.find("phase_a")) != std::string::npos;) {
    renamed.replace(at, 7, "early");
  }
  const Sweep other = load(renamed);
  EXPECT_EQ(cell_named(sweep, "third,s5").id, cell_named(other, "third,s5").id);

  // Longer training of phase A makes all that follow other cells.
  const Sweep longer = load(std::string(kPhases) + "train: {steps: 77}\n");
  EXPECT_NE(cell_named(sweep, "second,s3").id, cell_named(longer, "second,s3").id);
  const Sweep a_longer = load(
      "include:\n"
      "  - {tag: phase_a, train.steps: 77}\n"
      "  - {tag: second, train.lr: 3e-3, model.init.from: arm:phase_a}\n");
  EXPECT_NE(cell_named(sweep, "second,s3").id, cell_named(a_longer, "second,s3").id);
}

TEST_F(StartCellsOf, WindowsMayGoOnWhereTheSourceEnded) {
  const Sweep sweep = load(
      "include:\n"
      "  - {tag: a, train.steps: 70}\n"
      "  - {tag: again, model.init.from: arm:a}\n"
      "  - {tag: on, train.steps: 30, model.init.from: arm:a, data.first_step: source}\n"
      "  - {tag: further, model.init.from: arm:on, data.first_step: source}\n");
  const auto first = [&](const char* cell) {
    return cell_named(sweep, cell).config.integer("data.first_step");
  };
  EXPECT_EQ(first("again,s3"), 0);
  EXPECT_EQ(first("on,s3"), 70);
  EXPECT_EQ(first("further,s5"), 100);
  EXPECT_NE(messages("include:\n  - {tag: a, data.first_step: source}\n").find("arm:TAG"),
            std::string::npos);
}

TEST_F(StartCellsOf, ByIdIsTheSameCellAsByTag) {
  const Sweep sweep = load(kPhases);
  const CellId a = cell_named(sweep, "phase_a,s3").id;
  for (const std::string& name : {a, a.substr(0, 7), std::string("phase_a,s3")}) {
    const Sweep by_id =
        load("include:\n  - {tag: phase_a, train.lr: 1e-3}\n  - {tag: second, train.lr: 3e-3, " +
             ("model.init.from: \"cell:" + name + "\"}\n"));
    EXPECT_EQ(cell_named(by_id, "second,s3").id, cell_named(sweep, "second,s3").id) << name;
    EXPECT_EQ(start_cell(cell_named(by_id, "second,s5").config), a) << name;  // of another seed
  }
}

TEST_F(StartCellsOf, IdsOfCellsThatDrawTheirWeightsStayAsTheyWere) {
  // A row of `include` has the first value of each parameter that it does not name.
  const Sweep alone = load("include:\n  - {tag: phase_a, train.lr: 1e-3}\n");
  EXPECT_EQ(cell_named(alone, "phase_a,s3").id, cell_named(load(kPhases), "phase_a,s3").id);
  EXPECT_EQ(cell_named(alone, "phase_a,s3").structure,
            cell_named(load(kPhases), "phase_a,s3").structure);
}

TEST_F(StartCellsOf, ASourceAndItsDependantAreNeverOfOneStructure) {
  const Sweep sweep = load(kPhases);
  const auto structure = [&](const char* alias) { return cell_named(sweep, alias).structure; };
  EXPECT_EQ(structure("second,s3"), structure("second,s5"));  // ids do not set them apart
  EXPECT_EQ(structure("second,s3"), structure("from=arm:phase_a,lr=0.002,s3"));
  EXPECT_NE(structure("second,s3"), structure("phase_a,s3"));
  EXPECT_NE(structure("second,s3"), structure("third,s3"));
}

TEST_F(StartCellsOf, WhatOneCellStartsFromSurvivesJson) {
  const Sweep sweep = load(kPhases);
  for (const CellPlan& cell : sweep.cells) {
    const CellConfig back = config_from_json(cell.config.json());
    EXPECT_EQ(cell_id(back), cell.id) << cell.alias;
    EXPECT_EQ(structure_key(back), cell.structure) << cell.alias;
    EXPECT_EQ(back.changed(), cell.config.changed()) << cell.alias;
  }
}

TEST_F(StartCellsOf, CellsThatTurnOutEqualAreOne) {
  const Sweep sweep = load(
      "include:\n"
      "  - {tag: a}\n"
      "  - {tag: b, model.init.from: arm:a}\n"
      "  - {tag: c, model.init.from: \"cell:a,s3\"}\n"
      "  - {tag: d, train.lr: 2e-3, model.init.from: arm:c}\n");
  EXPECT_EQ(sweep.cells.size(), 7U);  // c,s3 is b,s3
  EXPECT_EQ(start_cell(cell_named(sweep, "d,s3").config), cell_named(sweep, "b,s3").id);
  EXPECT_EQ(start_cell(cell_named(sweep, "d,s5").config), cell_named(sweep, "c,s5").id);
  ASSERT_EQ(sweep.notes.size(), 1U);
  EXPECT_NE(sweep.notes[0].find("equals b,s3"), std::string::npos) << sweep.notes[0];
}

TEST_F(StartCellsOf, UnknownTagsAreAllReportedWithAnOtherMistake) {
  const std::string said = messages(
      "include:\n"
      "  - {tag: phase_a}\n"
      "  - {tag: b, model.init.from: arm:phase_b}\n"
      "  - {tag: c, model.init.from: arm:phas_a, model.d_model: 3.5}\n");
  EXPECT_NE(said.find("8:14: `model.init.from`: arm:phase_b"), std::string::npos) << said;
  EXPECT_NE(said.find("9:14: `model.init.from`: arm:phas_a"), std::string::npos) << said;
  EXPECT_NE(said.find("'arm:phase_a'"), std::string::npos) << said;
  EXPECT_NE(said.find("`model.d_model`"), std::string::npos) << said;
}

TEST_F(StartCellsOf, CyclesAreReportedOnceWithTheirArms) {
  EXPECT_NE(messages("include:\n  - {tag: a, model.init.from: arm:a}\n").find("a -> a"),
            std::string::npos);
  const auto problems = files_.problems(std::string(kHead) +
                                        "include:\n"
                                        "  - {tag: leads, model.init.from: arm:a}\n"
                                        "  - {tag: a, model.init.from: arm:b}\n"
                                        "  - {tag: b, model.init.from: arm:a}\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].line, 7);
  EXPECT_NE(problems[0].message.find("a -> b -> a"), std::string::npos) << problems[0].message;
}

TEST_F(StartCellsOf, CellsThatAreNotThereOrNotTheOnlyOnesAreReported) {
  const std::string said = messages(
      "include:\n"
      "  - {tag: a}\n"
      "  - {tag: b, model.init.from: cell:nobody}\n"
      "  - {tag: c, model.init.from: \"cell:a,s\"}\n"
      "  - {tag: d, model.init.from: \"cell:\"}\n");
  EXPECT_NE(said.find("8:14: `model.init.from`: cell:nobody"), std::string::npos) << said;
  EXPECT_NE(said.find("9:14: `model.init.from`: cell:a,s: several"), std::string::npos) << said;
  EXPECT_NE(said.find("10:14: `model.init.from`: cell:"), std::string::npos) << said;
}

TEST_F(StartCellsOf, FilesHaveLayoutsAndSourcesKeepTheirLastWeights) {
  const std::string rows = "include:\n  - {tag: a}\n  - {tag: b, model.init.from: arm:a";
  EXPECT_NE(messages(rows + ", model.init.layout: hf-gpt2}\n").find("`model.init.layout: hf-gpt2`"),
            std::string::npos);
  EXPECT_NE(
      messages(rows + "}\ncheckpoint: {keep_final: false}\n").find("`checkpoint.keep_final: true`"),
      std::string::npos);
}

}  // namespace start_cells_test
}  // namespace depthgrid
