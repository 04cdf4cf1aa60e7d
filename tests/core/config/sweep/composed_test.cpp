#include "core/config/sweep/composed.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace composed_test {

namespace fs = std::filesystem;

/// A folder to work in for as long as this lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::create_directories(folder);
    fs::current_path(folder);
  }
  ~WorkingFolder() { fs::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  fs::path before_;
};

class Composed : public ::testing::Test {
 protected:
  /// What the composed text of a sweep gives, read from another folder.
  Sweep again(const Sweep& sweep) const {
    const fs::path file = files_.write("elsewhere/sweep.yaml", sweep.yaml);
    const WorkingFolder away(files_.folder() / "away");
    return load_sweep({file, {}, true});
  }

  void expect_the_same(const Sweep& sweep) const {
    const Sweep other = again(sweep);
    EXPECT_EQ(other.id, sweep.id) << sweep.yaml;
    EXPECT_EQ(other.seeds, sweep.seeds);
    EXPECT_EQ(other.description, sweep.description);
    EXPECT_EQ(other.tags, sweep.tags);
    EXPECT_EQ(other.order, sweep.order);
    EXPECT_EQ(other.baseline_arm, sweep.baseline_arm);
    EXPECT_EQ(other.goals.size(), sweep.goals.size());
    ASSERT_EQ(other.cells.size(), sweep.cells.size()) << sweep.yaml;
    for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
      const CellPlan &a = sweep.cells[i], &b = other.cells[i];
      EXPECT_EQ(b.id, a.id) << a.alias << "\n" << sweep.yaml;
      EXPECT_EQ(b.alias, a.alias);
      EXPECT_EQ(b.factor, a.factor);
      EXPECT_EQ(b.tag, a.tag);
      EXPECT_EQ(b.structure, a.structure);
      EXPECT_EQ(b.baseline, a.baseline);
      EXPECT_EQ(b.overrides, a.overrides);
      EXPECT_EQ(b.config.json(), a.config.json());
    }
    // And so for ever: composing changes nothing but the command line in the heading.
    const auto body = [](const std::string& text) { return text.substr(text.find("\nname:")); };
    EXPECT_EQ(body(other.yaml), body(sweep.yaml));
  }

  SweepFiles files_;
};

TEST_F(Composed, EverySweepOfThisRepositoryRepeatsItself) {
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(DEPTHGRID_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".yaml" || entry.path().parent_path().filename() == "base") {
      continue;
    }
    SCOPED_TRACE(entry.path());
    const Sweep sweep = load_sweep({entry.path(), {}, true});
    expect_the_same(sweep);
    expect_the_same(load_sweep({entry.path(), {"train.steps=77", "seeds=2", "model.d_model=64"}}));
    if (sweep.method != "list" && sweep.goals.empty()) {  // `match.reference` names one arm
      expect_the_same(load_sweep({entry.path(), {"train.lr=1e-3,3e-3", "seeds=4,2"}, true}));
    }
    ++seen;
  }
  EXPECT_GT(seen, 20);
}

TEST_F(Composed, EveryKeyOfTheGridIsKept) {
  files_.write("base/one.yaml", "train: {steps: 33}\nmodel: {n_heads: 2}\nseeds: 3\n");
  const std::string text = R"(name: all-keys
description: "a sentence: with # and \"quotes\""
base: base/one.yaml
metric: {name: final_loss.valid, goal: minimize}
data: {corpus: "synthetic:markov", seq_len: 16}
model: {family: time_indexed, d_model: 32, n_layers: 2}
eval: {splits: [valid, train]}
packing: {fuse: "off"}
zip:
  - {model.modulation.hidden: [4, 8], train.clip: [1, none]}
parameters:
  train.lr: {logspace: [1e-4, 1e-2, 3]}
  train.batch_size: [2]
when:
  - {if: {model.modulation.hidden: [4, 8]}, parameters: {model.modulation.activation: [relu, silu]}}
exclude:
  - {train.lr: 1e-4, model.modulation.hidden: 4}
include:
  - {tag: plain, model.family: standard, model.residual.scale: 1/L}
  - {model.family: standard, train.lr: 5e-4}
baseline: {model.modulation.hidden: 8}
order: shuffled(7)
tags: [one, "two words"]
max_cells: 5000
)";
  for (const std::vector<std::string>& set : {std::vector<std::string>{},
                                              {"train.lr=2e-3,4e-3"},
                                              {"model.residual.scale=1,1/L,learned"},
                                              {"model.modulation.activation=gelu,relu"},
                                              {"seed=5"},
                                              {"eval.splits=[valid]"}}) {
    SCOPED_TRACE(set.empty() ? "" : set[0]);
    expect_the_same(files_.load(text, set));
  }
}

TEST_F(Composed, AnOverrideStillWinsOverThePresetOfARow) {
  const std::string text =
      "model: {d_model: 32, n_heads: 2, n_layers: 3}\ndata: {corpus: synthetic:markov, seq_len: "
      "16}\n"
      "include:\n  - {tag: small, model.preset: gpt}\n";
  const Sweep sweep = files_.load(text, {"model.n_layers=2"});
  ASSERT_EQ(cell_named(sweep, "small,s0").config.integer("model.n_layers"), 2);

  expect_the_same(sweep);

  EXPECT_NE(sweep.yaml.find("overrides: [model.n_layers]"), std::string::npos) << sweep.yaml;
  EXPECT_NE(files_.messages("overrides: [model.n_layer]\n").find("'model.n_layers'"),
            std::string::npos);
  EXPECT_NE(files_.messages("overrides: model.n_layers\n").find("`overrides`"), std::string::npos);
}

TEST_F(Composed, PathsAreRelativeToTheFileThatGivesThem) {
  files_.write("texts/a.txt", std::string(200, 'a'));
  files_.write("texts/b.txt", std::string(200, 'b'));
  files_.write("weights/w.safetensors", "weights");
  files_.write("bases/corpus.yaml",
               "data: {corpus: file, tokenizer: byte, path: [../texts/a.txt, ../texts/b.txt]}\n");
  const std::string text =
      "base: bases/corpus.yaml\ninclude:\n"
      "  - {model.init.from: weights/w.safetensors, train.lr: 1e-3}\n";

  const Sweep sweep = files_.load(text);

  EXPECT_EQ(sweep.cells[0].config.words("data.path"),
            (std::vector<std::string>{(files_.folder() / "texts/a.txt").string(),
                                      (files_.folder() / "texts/b.txt").string()}));
  EXPECT_EQ(sweep.cells[1].alias, "from=w.safetensors,lr=0.001,s0");
  expect_the_same(sweep);
  // On the command line they are relative to the working directory.
  const fs::path file = files_.write("sweep.yaml", text);
  const WorkingFolder here(files_.folder() / "texts");
  const Sweep set = load_sweep({file, {"data.path=b.txt"}});
  EXPECT_EQ(set.cells[0].config.word("data.path"), (fs::current_path() / "b.txt").string());
  expect_the_same(set);
}

TEST_F(Composed, TheHeadingIsTheCommandLineOnOneLine) {
  const std::string heading =
      composed_heading({"my sweep.yaml", {"train.lr=1e-3,3e-3", "description=it's\na: b"}, true});
  EXPECT_NE(heading.find("depthgrid run 'my sweep.yaml' --set train.lr=1e-3,3e-3 --set "
                         "'description=it'\\''s a: b' --yes\n"),
            std::string::npos)
      << heading;
  for (std::size_t at = 0; at < heading.size(); at = heading.find('\n', at) + 1) {
    EXPECT_EQ(heading[at], '#');
  }
}

}  // namespace composed_test
}  // namespace depthgrid
