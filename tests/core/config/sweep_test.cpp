#include "core/config/sweep.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/core/config/sweep_files.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace sweep_test {

TEST(Sweep, AGroupIsNoSuggestionWithoutItsLeaves) {
  const std::string kLeaf = "model.dropout.mlp";
  for (const char* text : {"dropout: 0.1\n", "train: {dropout: 0.1}\n", "model: {dropout: 0.1}\n",
                           "parameters: {model.dropout: [0, 0.1]}\n"}) {
    EXPECT_NE(SweepFiles().messages(text).find(kLeaf), std::string::npos) << text;
  }
  EXPECT_NE(SweepFiles().messages("name: a\n", {"model.dropout=0.1"}).find(kLeaf),
            std::string::npos);
  // A map in its place may be the whole group.
  EXPECT_EQ(SweepFiles().messages("model: {dropuot: {mlp: 0.1}}\n").find(kLeaf), std::string::npos);
}

TEST(Sweep, TenBrokenFilesSayWhatIsWrongAndWhere) {
  struct Broken {
    const char* text;
    const char* message;
  };
  const Broken kBroken[] = {
      {"model:\n  d_modle: 64\n",
       "2:3: unknown key 'model.d_modle' (did you mean 'model.d_model'?)"},
      {"model:\n  d_model: 64\n  d_model: 32\n", "3:3: duplicate key 'd_model' (first at line 2)"},
      {"model: &m {d_model: 64}\n", "1:8: anchors (&name) are not allowed"},
      {"train: {steps: !!int 5}\n", "1:16: tags (!name) are not allowed"},
      {"name: a\n---\nname: b\n", "2:1: a second document"},
      {"train: {steps: 010}\n",
       "1:16: `train.steps`: expected an int (0…1000000000), found '010': '010' has "
       "a leading zero: write 10"},
      {"train: {lr: fast}\n", "1:13: `train.lr`: expected a real (≥ 0), found 'fast'"},
      {"model: {tie_embeddings: yes}\n",
       "1:25: `model.tie_embeddings`: expected a bool, found 'yes': "
       "write true"},
      {"model: {dropout: {mlp: 0.95}}\n",
       "1:24: `model.dropout.mlp`: 0.95 is out of range (0…0.9)"},
      {"parameters:\n  model.modulation.hidden: [32, 64]\n",
       "2:29: `model.modulation.hidden` is read with `model.family: time_indexed`"},
      {"data: {seq_len: [64, 128]}\n",
       "1:17: `data.seq_len`: expected an int (2…131072), found a "
       "list: one value is expected here"},
      {"parameters: {eval.splits: [train, valid]}\n", "`eval.splits`: expected a list of words"},
  };
  const SweepFiles files;
  for (const Broken& broken : kBroken) {
    const std::string text = files.messages(broken.text);
    EXPECT_NE(text.find(broken.message), std::string::npos) << broken.text << "gave\n" << text;
  }
}

TEST(Sweep, AllErrorsComeInOneGoInTheOrderOfTheFile) {
  const auto problems = SweepFiles().problems(R"(name: bad sweep
model: {dephts: 3, d_model: 010, family: standrd}
train: {lr: 1e999, steps: 1e3, clip: nan}
parameters:
  seed: [1, 2]
  resources.device: [cpu, cuda]
  train.weight_decay: []
seeds: 0
metric: {name: eval_los.valid, gaol: minimize}
widget: 3
)");
  std::vector<int> lines;
  for (const auto& problem : problems) lines.push_back(problem.line);
  EXPECT_EQ(lines, (std::vector<int>{1, 2, 2, 2, 3, 3, 3, 5, 6, 7, 8, 9, 9, 10}));
}

TEST(Sweep, OfAFileOfNonsenseTheFirstMistakesAreReported) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "key_" + std::to_string(i) + ": 1\n";

  EXPECT_EQ(SweepFiles().problems(text).size(), kMostErrors + 1);
}

TEST(Sweep, OneMistakeIsOneMessage) {
  // A misspelt family or key must not make every leaf that depends on it an error.
  EXPECT_EQ(SweepFiles().problems("model: {family: time_index, modulation: {hidden: 8}}\n").size(),
            1U);
  EXPECT_EQ(SweepFiles().problems("model: {famly: time_indexed, modulation: {hidden: 8}}\n").size(),
            1U);
  EXPECT_EQ(SweepFiles().problems("model: {d_model: 3O, n_heads: 5}\n").size(), 1U);
}

TEST(Sweep, MessagesShowTheLineAndACaret) {
  const SweepFiles files;
  try {
    files.load("model:\n  n_layers: 2.5\n");
    FAIL();
  } catch (const SweepErrors& errors) {
    EXPECT_EQ(errors.code(), ExitCode::Usage);
    const std::string said = errors.what();
    EXPECT_TRUE(
        said.starts_with((files.folder() / "sweep.yaml").string() + ":2:13: `model.n_layers`: "))
        << said;
    EXPECT_NE(said.find("'2.5'"), std::string::npos) << said;
    EXPECT_TRUE(
        said.ends_with("\n"
                       "  2 |   n_layers: 2.5\n"
                       "    |             ^\n"
                       "1 error"))
        << said;
  }
}

TEST(Sweep, AMissingFileIsNoInput) {
  try {
    load_sweep({"/nonexistent/sweep.yaml", {}, false});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::NoInput);
  }
}

TEST(Sweep, BasesAreComposedFirstAndLaterWins) {
  const SweepFiles files;
  files.write("base/deep.yaml", "model: {n_layers: 4, d_model: 32}\nseeds: 2\n");
  files.write("base/study.yaml", "base: deep.yaml\nmodel: {d_model: 64}\ntrain: {lr: 1}\n");
  const Sweep sweep = files.load(R"(
base: base/study.yaml
train: {lr: 0.5}
parameters: {model.n_layers: [1, 2]}
)");
  EXPECT_EQ(sweep.cells.size(), 4U);
  EXPECT_EQ(sweep.cells[2].config.integer("model.n_layers"), 2);  // a factor wins over a base
  EXPECT_EQ(sweep.cells[0].config.integer("model.d_model"), 64);
  EXPECT_EQ(sweep.cells[0].config.real("train.lr"), 0.5);
  EXPECT_EQ(sweep.sources.size(), 3U);
}

TEST(Sweep, ProblemsOfABaseCarryItsName) {
  const SweepFiles files;
  files.write("b.yaml", "model: {d_model: x}\nparameters: {train.lr: [1]}\n");
  const auto problems = files.problems("base: [b.yaml, absent.yaml]\n");

  ASSERT_EQ(problems.size(), 3U);
  EXPECT_NE(problems[0].message.find("no file"), std::string::npos);
  EXPECT_TRUE(problems[1].file.ends_with("b.yaml"));
  EXPECT_EQ(problems[1].line, 1);
  EXPECT_NE(problems[2].message.find("`parameters`"), std::string::npos);
}

TEST(Sweep, BasesInACircleAreRefused) {
  const SweepFiles files;
  files.write("a.yaml", "base: b.yaml\n");
  files.write("b.yaml", "base: a.yaml\n");

  EXPECT_NE(files.messages("base: a.yaml\n").find("a.yaml -> b.yaml -> a.yaml"), std::string::npos);
  EXPECT_NE(files.messages("base: sweep.yaml\n").find("cycle"), std::string::npos);
}

TEST(Sweep, AUnreadLeafOfTheFixedPartIsAnError) {
  EXPECT_NE(SweepFiles().messages("model: {rope_base: 3}\n").find("1:9: `model.rope_base`"),
            std::string::npos);
}

TEST(Sweep, ALeafOfTheRunNeedsOneReaderOnly) {
  EXPECT_EQ(SweepFiles()
                .load("data: {path: x}\nparameters: {data.corpus: [wikitext-2, synthetic:copy]}\n")
                .cells.size(),
            2U);
  EXPECT_NE(SweepFiles().messages("data: {path: x, corpus: synthetic:copy}\n").find("`data.path`"),
            std::string::npos);
}

TEST(Sweep, AMetricMustBeEvaluated) {
  const SweepFiles files;

  EXPECT_NE(files.messages("metric: {name: eval_loss.test}\n").find("`eval.splits`"),
            std::string::npos);
  EXPECT_EQ(files.load("metric: {name: train_loss_last50, goal: maximize}\n").goal, "maximize");
}

TEST(Sweep, TheMetricIsTheFinalLossWhereThatIsEvaluated) {
  const SweepFiles files;

  EXPECT_EQ(files.load("name: x\n").metric, "final_loss.valid");
  EXPECT_EQ(files.load("eval: {final_splits: [dev]}\n").metric, "eval_loss.valid");
  EXPECT_EQ(files.load("metric: {name: eval_loss.valid}\n").metric, "eval_loss.valid");
}

TEST(Sweep, TooManyCellsAreRefusedBeforeTheyExist) {
  const SweepFiles files;
  std::string levels = "[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.91]";
  std::string text = "parameters:\n";
  for (const char* leaf :
       {"train.lr", "train.beta1", "train.beta2", "train.eps", "train.weight_decay", "train.clip",
        "train.loss_scale", "train.diverged_above", "model.residual.scale", "train.groups.trunk.lr",
        "train.groups.head.lr", "train.groups.bias.lr"}) {
    text += std::string("  ") + leaf + ": " + levels + "\n";
  }
  const auto file = files.write("huge.yaml", text);
  const auto range = files.write(
      "range.yaml",
      "parameters:\n  train.lr: {linspace: [0, 1, 1000000000]}\n  train.eps: {linspace: [1, 2, "
      "1000000000]}\n  train.beta1: {linspace: [0, 0.5, 1000000000]}\n");
  for (const auto& path : {file, range}) {
    try {
      load_sweep({path, {}, true});
      FAIL();
    } catch (const SweepErrors& errors) {
      EXPECT_NE(std::string(errors.what()).find("`max_cells` (1,000,000)"), std::string::npos);
    }
  }
}

TEST(Sweep, MoreThanTenThousandCellsAskForYes) {
  const SweepFiles files;
  const std::string text = "parameters: {train.lr: {linspace: [0.1, 1, 10001]}}\n";

  EXPECT_NE(files.messages(text).find("--yes"), std::string::npos);
  EXPECT_EQ(files.load(text, {}, true).cells.size(), 10001U);
  EXPECT_NE(files.messages(text + "max_cells: 500\n").find("`max_cells` (500)"), std::string::npos);
}

TEST(Sweep, TenThousandCellsAreExpandedNamedAndGrouped) {
  const SweepFiles files;
  const auto file = files.write("big.yaml", R"(
model: {family: time_indexed}
parameters:
  train.lr: {logspace: [1e-5, 1e-2, 10]}
  model.residual.scale: {linspace: [0.1, 1, 10]}
  model.modulation.hidden: [8, 16, 24, 32, 40, 48, 56, 64, 72, 80]
  train.beta1: {linspace: [0.5, 0.95, 10]}
)");
  const Sweep sweep = load_sweep({file, {}, false});

  EXPECT_EQ(sweep.cells.size(), 10000U);
  std::set<std::string> ids, names, structures;
  for (const CellPlan& cell : sweep.cells) {
    ids.insert(cell.id);
    names.insert(cell.alias);
    structures.insert(cell.structure);
  }
  EXPECT_EQ(ids.size(), 10000U);
  EXPECT_EQ(names.size(), 10000U);
  EXPECT_EQ(structures.size(), 10U);
}

TEST(Sweep, FastAndPublicIdentityAgree) {
  const Sweep sweep = SweepFiles().load(R"(
model: {family: time_indexed}
parameters:
  model.residual.scale: [1, 1/L, learned]
  model.dropout.mlp: [0, 0.1]
  model.modulation.granularity: [row, {q: column}]
seeds: [0, 4]
)");
  ASSERT_EQ(sweep.cells.size(), 24U);
  for (const CellPlan& cell : sweep.cells) {
    EXPECT_EQ(cell.id, cell_id(cell.config)) << cell.alias;
    EXPECT_EQ(cell.structure, structure_key(cell.config)) << cell.alias;
    EXPECT_EQ(cell.id, cell_id(config_from_json(cell.config.json()))) << cell.alias;
  }
}

TEST(Sweep, ItsIdNamesItsCellsAndNotTheRun) {
  const SweepFiles files;
  const std::string id = files.load("parameters: {train.lr: [1, 2]}\n").id;

  EXPECT_EQ(files.load("parameters: {train.lr: [1, 2]}\nresources: {threads: 2}\n").id, id);
  EXPECT_NE(files.load("parameters: {train.lr: [1, 3]}\n").id, id);
  EXPECT_NE(files.load("parameters: {train.lr: [2, 1]}\n").id, id);
  EXPECT_EQ(id.size(), 16U);
}

TEST(Sweep, LeavesOfTheRunAnswerForTheSweep) {
  const Sweep sweep = SweepFiles().load("resources: {lease: 30}\nparameters: {train.lr: [1, 2]}\n");

  EXPECT_EQ(sweep.run.integer("resources.lease"), 30);
  EXPECT_EQ(sweep.cells[1].config.integer("resources.lease"), 30);
}

TEST(Sweep, NamesOfSweepsAreSafeInPaths) {
  const SweepFiles files;

  EXPECT_EQ(files.load("train: {steps: 1}\n").name, "sweep");
  for (const char* name : {"../x", ".", "a/b", "''", "-x", "\"a\\nb\""}) {
    EXPECT_NE(files.messages(std::string("name: ") + name + "\n").find("`name`"), std::string::npos)
        << name;
  }
}

TEST(Sweep, TheQuickstartHasTenCells) {
  const Sweep sweep = SweepFiles().load(R"(
name: quickstart
model: {family: time_indexed, d_model: 64, n_layers: 4}
data: {seq_len: 64}
train: {steps: 300}
parameters:
  model.modulation.hidden: [32, 64]
  model.residual.scale: [1, 1/L]
include:
  - {model.family: standard, tag: standard}
seeds: 2
)",
                                        {"data.corpus=self"});
  EXPECT_EQ(sweep.cells.size(), 10U);
  EXPECT_EQ(sweep.cells[3].alias, "hidden=32,scale=1/L,s1");
  EXPECT_EQ(sweep.cells[9].alias, "standard,s1");
  EXPECT_EQ(sweep.cells[0].structure, sweep.cells[2].structure);
  EXPECT_NE(sweep.cells[0].structure, sweep.cells[9].structure);
}

}  // namespace sweep_test
}  // namespace depthgrid
