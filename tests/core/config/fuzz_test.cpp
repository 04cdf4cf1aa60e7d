#include <random>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace fuzz_test {

constexpr const char* kSeeds[] = {
    R"(name: a
model: {family: time_indexed, d_model: 64, modulation: {granularity: {q: column}}}
parameters:
  model.modulation.hidden: [32, 64]
  train.lr: {logspace: [1e-4, 1e-2, 3]}
zip:
  - {train.beta1: [0.8, 0.9], train.beta2: [0.9, 0.99]}
when:
  - {if: {model.modulation.hidden: 64}, parameters: {model.modulation.gate: [sigmoid, identity]}}
exclude:
  - {train.lr: 0.01, train.beta1: 0.8}
include:
  - {model.family: standard, tag: plain}
baseline: {train.lr: 1e-3}
seeds: [0, 1]
order: shuffled(3)
)",
    "method: ablation\npairs: true\nparameters: {train.lr: [1, 2], model.n_layers: [2, 3]}\n",
    "method: list\ninclude: [{model.preset: published/time_indexed_mlp}, {tag: x}]\n",
};

/// A sweep or a UserError; anything else ends the test.
void load_anything(const SweepFiles& files, const std::string& text, std::size_t* good) {
  try {
    files.load(text);
    ++*good;
  } catch (const UserError&) {
  }
}

TEST(Fuzz, MutatedFilesNeverCrash) {
  const SweepFiles files;
  std::mt19937 random(7);  // NOLINT: the same cases each time
  const std::string pieces[] = {"[",
                                "]",
                                "{",
                                "}",
                                ":",
                                ",",
                                "&a ",
                                "*a",
                                "!x ",
                                "- ",
                                "\n",
                                "  ",
                                "\"",
                                "'",
                                "|",
                                ">",
                                "#",
                                "%",
                                "@",
                                "---\n",
                                "<<: ",
                                "? ",
                                "~",
                                "null",
                                "1e999",
                                "-1",
                                "010",
                                "\t",
                                "\xff",
                                std::string(1, '\0'),
                                "\xce\x94",
                                "model.d_model",
                                "linspace: [0, 1, 5]",
                                "[[",
                                "{{"};
  std::size_t good = 0;
  for (int round = 0; round < 800; ++round) {
    std::string text = kSeeds[random() % std::size(kSeeds)];
    const int edits = round % 3 == 0 ? 1 : 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < edits && !text.empty(); ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 8);
          break;
        case 1:
          text.insert(at, pieces[random() % std::size(pieces)]);
          break;
        case 2:
          text[at] = static_cast<char>(round % 2 == 0 ? '0' + random() % 10 : random() % 256);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    load_anything(files, text, &good);
  }
  EXPECT_GT(good, 5U);  // the mutations are mild enough to reach the grid
}

TEST(Fuzz, TruncatedFilesNeverCrash) {
  const SweepFiles files;
  std::size_t good = 0;
  const std::string text = kSeeds[0];
  for (std::size_t length = 0; length < text.size(); ++length) {
    load_anything(files, text.substr(0, length), &good);
  }
  EXPECT_GT(good, 10U);
}

TEST(Fuzz, MutatedOverridesNeverCrash) {
  const SweepFiles files;
  std::mt19937 random(11);  // NOLINT
  for (int round = 0; round < 300; ++round) {
    std::string setting = "model.modulation.granularity={q: row},column";
    for (int i = 0; i < 3; ++i) {
      setting[random() % setting.size()] = static_cast<char>(random() % 256);
    }
    try {
      files.load(kSeeds[0], {setting});
    } catch (const UserError&) {
    }
  }
}

}  // namespace fuzz_test
}  // namespace depthgrid
