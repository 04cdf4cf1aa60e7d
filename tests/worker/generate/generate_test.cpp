#include "worker/generate/generate.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace generate_test {

using Tokens = std::vector<std::int64_t>;

/// The most probable next tokens by running the model over all of the window each time.
Tokens recomputed(const Model& model, Tokens all, std::int64_t tokens) {
  const at::NoGradGuard no_grad;
  Tokens out;
  for (std::int64_t n = 0; n < tokens; ++n) {
    const at::Tensor ids = at::tensor(all, at::kLong).view({1, 1, -1});
    const at::Tensor logits = model.logits(ids, {});
    const std::int64_t next = logits.select(2, ids.size(2) - 1).argmax(-1).item<std::int64_t>();
    all.push_back(next);
    out.push_back(next);
  }
  return out;
}

class Generation : public ::testing::TestWithParam<std::string> {};

TEST_P(Generation, GreedyTokensAreThoseOfTheWholeModel) {
  ModelOptions o = small_options(GetParam());
  o.positions = Positions::Rope;
  const Built built(o, {5});
  const Tokens prompt = {3, 1, 4, 1, 5};

  const Generated made = generate_tokens(*built.model, prompt, 40, {.temperature = 0}, 0, 17);

  EXPECT_EQ(made.tokens, recomputed(*built.model, prompt, 40));
  EXPECT_EQ(made.restarts, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, Generation,
                         ::testing::Values("standard", "time_indexed", "tong", "tdt", "mod"));

TEST(Generation, SeedsDecideAndNothingElse) {
  const Built built(small_options("standard"), {5});
  const auto run = [&](std::uint64_t seed, std::int64_t tokens) {
    return generate_tokens(*built.model, {1, 2}, tokens, {}, seed, 17).tokens;
  };
  EXPECT_EQ(run(1, 30), run(1, 30));
  EXPECT_NE(run(1, 30), run(2, 30));
  const Tokens longer = run(1, 30), shorter = run(1, 10);
  EXPECT_TRUE(std::ranges::equal(shorter, std::span(longer).first(10)));
}

TEST(Generation, TokensBeyondTheVocabularyOfTheDataAreNotDrawn) {
  const Built built(small_options("standard"), {5});
  const Generated made = generate_tokens(*built.model, {1, 2}, 200, {.temperature = 50}, 1, 11);
  EXPECT_EQ(*std::ranges::max_element(made.tokens), 10);
}

TEST(Generation, WhereLearnedPositionsEndTheNewestHalfIsReadAgain) {
  const ModelOptions o = small_options("standard");  // 9 positions
  const Built built(o, {5});
  const Tokens prompt = {3, 1, 4, 1, 5};

  const Generated made = generate_tokens(*built.model, prompt, 12, {.temperature = 0}, 0, 17);

  // Five tokens come from positions 4 to 8; then the newest four stand at 0 to 3, and again.
  Tokens all = prompt, expected;
  const auto go_on = [&](Tokens window, std::int64_t n) {
    for (const std::int64_t t : recomputed(*built.model, std::move(window), n)) {
      all.push_back(t);
      expected.push_back(t);
    }
  };
  go_on(all, 5);
  go_on(Tokens(all.end() - 4, all.end()), 6);
  go_on(Tokens(all.end() - 4, all.end()), 1);
  EXPECT_EQ(made.tokens, expected);
  EXPECT_EQ(made.restarts, 2);
}

TEST(Generation, OfALongPromptTheNewestTokensAreRead) {
  const ModelOptions o = small_options("standard");
  const Built built(o, {5});
  Tokens prompt;
  for (std::int64_t i = 0; i < 20; ++i) prompt.push_back(i % 17);
  const Tokens last(prompt.end() - 9, prompt.end());
  EXPECT_EQ(generate_tokens(*built.model, prompt, 1, {.temperature = 0}, 0, 17).tokens,
            recomputed(*built.model, last, 1));
}

}  // namespace generate_test
}  // namespace depthgrid::testing
