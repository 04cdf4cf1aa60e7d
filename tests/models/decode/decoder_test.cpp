// Decoding with caches against recomputation of the whole sequence: every family and option.
#include "models/decode/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "core/depth/tableau.hpp"
#include "models/blocks/attention.hpp"
#include "models/decode/token_choice.hpp"
#include "models/routing/routing_record.hpp"
#include "models/routing/top_k.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace decoder_test {

using Pieces = std::vector<std::int64_t>;

/// Logits of a sequence that comes in pieces.
at::Tensor decoded(const Model& model, const at::Tensor& tokens, const Pieces& pieces) {
  Decoder decoder(model);
  std::vector<at::Tensor> logits;
  std::int64_t at = 0;
  for (const std::int64_t n : pieces) {
    logits.push_back(model.readout(decoder.advance(tokens.narrow(2, at, n))));
    at += n;
    EXPECT_EQ(decoder.length(), at);
  }
  EXPECT_EQ(at, tokens.size(2));
  return at::cat(logits, 2);
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

class Decoding : public ::testing::TestWithParam<ModelCase> {};

TEST_P(Decoding, InPiecesIsTheSameAsTheWholeSequence) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options(GetParam().family, 2);
  GetParam().change(o);
  const std::int64_t tokens = o.max_tokens;
  const at::Tensor ids = at::randint(0, o.vocabulary, {2, 3, tokens}, at::kLong);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const Built s = built_and_moved(o, type);
    const at::Tensor whole = s.model->logits(ids, {});
    const double scale = std::max(1.0, whole.std().item<double>());
    const double allowed = type == at::kDouble ? 1e-9 : 1e-4 * scale;
    const Pieces by_token(static_cast<std::size_t>(tokens), 1);
    for (const Pieces& pieces : {by_token, Pieces{4, tokens - 4}, Pieces{1, tokens - 2, 1},
                                 Pieces{tokens - 1, 1}, Pieces{tokens}}) {
      const at::Tensor ours = decoded(*s.model, ids, pieces);
      EXPECT_LE(distance(ours, whole), allowed) << type << ", first piece " << pieces.front();
      EXPECT_TRUE(type == at::kFloat || ours.argmax(-1).equal(whole.argmax(-1)));
    }
  }
}

TEST_P(Decoding, SequencesOfABatchDoNotSeeEachOther) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options(GetParam().family, 2);
  GetParam().change(o);
  const at::Tensor ids = at::randint(0, o.vocabulary, {2, 3, o.max_tokens}, at::kLong);
  const Built s = built_and_moved(o, at::kDouble);
  const Pieces pieces = {3, 1, o.max_tokens - 4};
  const at::Tensor together = decoded(*s.model, ids, pieces);
  for (std::int64_t b = 0; b < 3; ++b) {
    EXPECT_LE(distance(decoded(*s.model, ids.narrow(1, b, 1), pieces), together.narrow(1, b, 1)),
              1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Decoding, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

/// How a layer that skips may decide, with thresholds and masks for E = 2, B = 4 and T tokens.
std::vector<Execution> executions(const ModelOptions& o, std::int64_t tokens) {
  using enum ExecutionMode;
  const auto layers = static_cast<std::int64_t>(o.routing.layers.size());
  std::vector<Execution> out = {{.mode = Dense},
                                {.mode = SkipAll},
                                {.mode = Random},
                                {.mode = Student, .decider = Decider::Threshold},
                                {.mode = Student, .decider = Decider::Calibrated},
                                {.mode = Student, .decider = Decider::RunningTopk},
                                {.mode = Forced},
                                {.mode = Student, .decider = Decider::Forced}};
  out[4].thresholds = at::randn({2, layers}, at::kDouble) * 0.3;
  out[6].forced = out[7].forced = at::rand({2, 4, tokens, o.layers}).lt(0.4);
  return out;
}

/// Masks of all tokens: of the dynamic layers, one after another, as one pass over all has them.
std::vector<at::Tensor> recomputed_masks(const Model& model, const at::Tensor& ids,
                                         const Execution& execution) {
  RoutingRecord record;
  model.states(ids, {.execution = execution, .routing = &record});
  std::vector<at::Tensor> out;
  for (const LayerRouting& layer : record.layers) out.push_back(layer.executed);
  return out;
}

class Skipping : public ::testing::TestWithParam<std::string> {};

TEST_P(Skipping, InPiecesIsTheSameAsTheWholeSequence) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options(GetParam(), 2);
  o.routing.capacity = {0.25, 0.5};
  const std::int64_t tokens = 40;
  const at::Tensor ids = at::randint(0, o.vocabulary, {2, 4, tokens}, at::kLong);
  const Pieces by_token(static_cast<std::size_t>(tokens), 1);
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const Built s = built_and_moved(o, type);
    for (const Execution& e : executions(o, tokens)) {
      const at::Tensor whole = s.model->logits(ids, {.execution = e});
      const std::vector<at::Tensor> masks = recomputed_masks(*s.model, ids, e);
      const double scale = std::max(1.0, whole.std().item<double>());
      for (const Pieces& pieces :
           {by_token, Pieces{1, 16, 1, 22}, Pieces{tokens / 2, tokens / 2}, Pieces{tokens}}) {
        SCOPED_TRACE(std::string(name_of(e.mode)) + ", first piece " +
                     std::to_string(pieces.front()));
        Decoder decoder(*s.model, e);
        std::vector<at::Tensor> logits;
        std::vector<std::vector<at::Tensor>> decided(masks.size());
        std::int64_t at = 0;
        for (const std::int64_t n : pieces) {
          logits.push_back(s.model->readout(decoder.advance(ids.narrow(2, at, n))));
          for (std::size_t i = 0; i < masks.size(); ++i) {
            decided[i].push_back(decoder.executed(o.routing.layers[i]));
          }
          at += n;
        }
        const at::Tensor ours = at::cat(logits, 2);
        EXPECT_LE(distance(ours, whole), type == at::kDouble ? 1e-9 : 1e-4 * scale);
        for (std::size_t i = 0; i < masks.size(); ++i) {
          EXPECT_TRUE(at::cat(decided[i], 2).equal(masks[i]));
          const at::Tensor sums = masks[i].sum(2).flatten();
          const std::vector<std::int64_t> kept = decoder.lengths(o.routing.layers[i]);
          EXPECT_TRUE(at::tensor(kept, at::kLong).equal(sums));
        }
        EXPECT_EQ(decoder.lengths(0), std::vector<std::int64_t>(8, tokens));
      }
    }
  }
}

TEST_P(Skipping, SequencesOfABatchDoNotSeeEachOther) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options(GetParam(), 2);
  o.routing.capacity = {0.25, 0.5};
  const at::Tensor ids = at::randint(0, o.vocabulary, {2, 4, 20}, at::kLong);
  const Built s = built_and_moved(o, at::kDouble);
  const Execution e{.mode = ExecutionMode::Student, .decider = Decider::RunningTopk};
  const auto run = [&](const at::Tensor& tokens) {
    Decoder decoder(*s.model, e);
    std::vector<at::Tensor> out;
    for (const auto& [first, n] : {std::pair{0, 7}, std::pair{7, 1}, std::pair{8, 12}}) {
      out.push_back(s.model->readout(decoder.advance(tokens.narrow(2, first, n))));
    }
    return at::cat(out, 2);
  };
  const at::Tensor together = run(ids);
  for (std::int64_t b = 0; b < 4; ++b) {
    EXPECT_LE(distance(run(ids.narrow(1, b, 1)), together.narrow(1, b, 1)), 1e-12);
  }
}

TEST_P(Skipping, TheDecisionsOfATeacherCannotBeDecoded) {
  const ModelOptions o = small_options(GetParam(), 2);
  const Built s = built_and_moved(o, at::kFloat);
  Decoder decoder(*s.model, Execution{.mode = ExecutionMode::TeacherTopk});
  EXPECT_THROW(decoder.advance(at::randint(0, o.vocabulary, {2, 1, 3}, at::kLong)), Error);
}

INSTANTIATE_TEST_SUITE_P(Families, Skipping, ::testing::Values("tdt", "mod"));

TEST(SkippingDecoder, ASkippedTokenLeavesNothingButItsStateForTheRouter) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options("tdt");
  o.routing.layers = {0, 1, 2};
  const Built s = built_and_moved(o, at::kFloat);
  Decoder decoder(*s.model, Execution{.mode = ExecutionMode::SkipAll});
  const at::Tensor ids = at::randint(0, o.vocabulary, {1, 3, 6}, at::kLong);
  EXPECT_TRUE(decoder.advance(ids).equal(s.model->embed(ids)));
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(decoder.lengths(i), (std::vector<std::int64_t>{0, 0, 0}));
  }
  EXPECT_EQ(decoder.bytes(), 3 * (3 * 4));  // a number a layer and a sequence
}

TEST(SkippingDecoder, RunningTopkLooksAtTheScoresOfEarlierPieces) {
  RoutingOptions o;
  o.capacity = {0.25, 0.6};
  o.min_k = {0, 1};
  const at::Tensor score = at::randn({2, 5, 64}, at::kDouble);
  const at::Tensor whole = running_top_k_mask(o, score);
  for (const std::int64_t cut : {1, 17, 63}) {
    const at::Tensor later =
        running_top_k_mask(o, score.narrow(2, cut, 64 - cut), score.narrow(2, 0, cut));
    EXPECT_TRUE(later.equal(whole.narrow(2, cut, 64 - cut)));
  }
}

TEST(Decoder, GoesOnBeyondTheTrainedLengthWithRotaryPositions) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options("standard", 2);
  o.positions = Positions::Rope;
  const Built s = built_and_moved(o, at::kDouble);
  const at::Tensor ids = at::randint(0, o.vocabulary, {2, 2, 150}, at::kLong);
  EXPECT_LE(distance(decoded(*s.model, ids, {70, 1, 70, 9}), s.model->logits(ids, {})), 1e-9);
  EXPECT_EQ(Decoder(*s.model).remaining(), std::numeric_limits<std::int64_t>::max());
}

TEST(Decoder, UnderAControlSignalIsTheSameAsTheWholeSequence) {
  const at::NoGradGuard no_grad;
  using Case = std::tuple<bool, const char*, std::int64_t>;
  for (const auto& [mlp, method, signals] :
       {Case{false, "euler", 1}, Case{false, "euler", 9}, Case{false, "midpoint", 9},
        Case{false, "ab2", 9}, Case{false, "reversible_heun", 1}, Case{true, "euler", 1},
        Case{true, "euler", 9}, Case{true, "midpoint", 1}}) {
    ModelOptions o = small_options("hybrid_ode", 2);
    if (mlp) with_mlp_field(o);
    with_control(o, 3);
    o.solver.method = &stepper(method);
    const Built s = built_and_moved(o, at::kDouble);
    const at::Tensor ids = at::randint(0, o.vocabulary, {2, 3, 9}, at::kLong);
    const Control u{at::randn({2, 1, signals, 3}, at::kDouble)};
    const at::Tensor whole = s.model->logits(ids, {.control = u});
    EXPECT_GT(distance(whole, s.model->logits(ids, {})), 1e-4);
    Decoder decoder(*s.model, {}, u);
    for (std::int64_t t = 0; t < 9; ++t) {
      const at::Tensor logits = s.model->readout(decoder.advance(ids.narrow(2, t, 1)));
      EXPECT_LE(distance(logits, whole.narrow(2, t, 1)), 1e-9) << method << ", token " << t;
    }
  }
}

TEST(Decoder, AFlowHasAStateForEachOfItsStepsAndKeepsNothingWhereItDoesNotAttend) {
  for (const bool mlp : {false, true}) {
    ModelOptions o = small_options("hybrid_ode", 2);
    if (mlp) with_mlp_field(o);
    o.solver.steps = 2;
    const Built s = built_and_moved(o, at::kFloat);
    Decoder decoder(*s.model);
    ASSERT_EQ(decoder.steps(), 4);  // two layers, and two steps in place of the one between
    EXPECT_TRUE(decoder.lengths(1).empty());
    decoder.advance(at::randint(0, o.vocabulary, {2, 3, 5}, at::kLong));
    for (std::int64_t i = 0; i < 4; ++i) {
      const bool attends = !mlp || i == 0 || i == 3;
      EXPECT_EQ(decoder.lengths(i), std::vector<std::int64_t>(6, attends ? 5 : 0)) << i;
    }
    o.solver.method = &stepper("midpoint");
    EXPECT_EQ(Decoder(*built_and_moved(o, at::kFloat).model).steps(), 4);
  }
}

TEST(Decoder, RefusesTokensBeyondLearnedPositions) {
  ModelOptions o = small_options("standard", 2);
  const Built s = built_and_moved(o, at::kFloat);
  Decoder decoder(*s.model);
  const at::Tensor ids = at::randint(0, o.vocabulary, {2, 1, o.max_tokens}, at::kLong);
  decoder.advance(ids);
  EXPECT_EQ(decoder.remaining(), 0);
  EXPECT_THROW(decoder.advance(ids.narrow(2, 0, 1)), ShapeError);
  decoder.restart();
  EXPECT_EQ(decoder.remaining(), o.max_tokens);
  EXPECT_LE(distance(s.model->readout(decoder.advance(ids)), s.model->logits(ids, {})), 1e-4);
}

TEST(Decoder, CountsTheBytesOfItsCaches) {
  ModelOptions o = small_options("standard", 2);
  const Built s = built_and_moved(o, at::kFloat);
  Decoder decoder(*s.model);
  EXPECT_EQ(decoder.bytes(), 0);
  decoder.advance(at::randint(0, o.vocabulary, {2, 3, 5}, at::kLong));
  EXPECT_EQ(decoder.bytes(), 2 * o.layers * (2 * 3) * 5 * o.width * 4);  // keys and values
}

TEST(Decoder, WeightsInBf16AreDecodedToTheirRounding) {
  const at::NoGradGuard no_grad;
  for (const char* family : {"standard", "time_indexed", "tong"}) {
    ModelOptions o = small_options(family, 2);
    const Built s = built_and_moved(o, at::kFloat, true);
    const at::Tensor ids = at::randint(0, o.vocabulary, {2, 2, o.max_tokens}, at::kLong);
    const at::Tensor whole = s.model->logits(ids, {});
    EXPECT_LE(distance(decoded(*s.model, ids, {4, 1, 1, o.max_tokens - 6}), whole),
              0.05 * std::max(1.0, whole.abs().max().item<double>()));
  }
}

/// Attention written out: of each token to all up to its own. @param qkv (E, B, T, 3C)
at::Tensor written_out(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles) {
  const Heads all = split_heads(o, qkv, angles);  // (E·B, H, T, D)
  std::vector<at::Tensor> out;
  for (std::int64_t t = 0; t < qkv.size(2); ++t) {
    const at::Tensor scores =
        at::matmul(all.k.narrow(2, 0, t + 1), all.q.select(2, t).unsqueeze(3));
    const at::Tensor share = at::softmax(scores / std::sqrt(static_cast<double>(all.k.size(3))), 2);
    out.push_back((share * all.v.narrow(2, 0, t + 1)).sum(2, true));
  }
  return join_heads(at::cat(out, 2), qkv);
}

TEST(KvCache, ATokenSeesTheSlotsUpToItsOwn) {
  const std::int64_t cells = 2, rows = 3, heads = 2, tokens = 150;  // more than the first slots
  for (const std::int64_t channels : {4, 20, 64, 80}) {  // rests of lanes and of four lanes
    for (const bool rope : {false, true}) {
      ModelOptions o;
      o.cells = cells;
      o.heads = heads;
      o.width = heads * channels;
      o.rope_base = {1e4, 1e2};
      const at::Tensor exact = at::randn({cells, rows, tokens, 3 * o.width}, at::kDouble);
      for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
        const at::Tensor qkv = exact.to(type);
        const RotaryAngles angles = rope ? rotary_angles(o, 0, tokens, qkv) : RotaryAngles{};
        const at::Tensor theirs =
            written_out(o, exact, rope ? rotary_angles(o, 0, tokens, exact) : RotaryAngles{});
        KvCache cache;
        std::int64_t begin = 0;
        for (const std::int64_t n : {5, 1, 1, 69, 1, 73}) {
          const auto some = [&](const at::Tensor& v) {
            return v.defined() ? v.narrow(3, begin, n) : v;
          };
          const at::Tensor ours =
              cache.attend(o, qkv.narrow(2, begin, n), {some(angles.cosine), some(angles.sine)});
          ASSERT_LE(distance(ours, theirs.narrow(2, begin, n)), type == at::kDouble ? 1e-12 : 1e-5)
              << channels << " channels, tokens from " << begin << ", " << type;
          begin += n;
        }
        EXPECT_EQ(cache.length(), tokens);
        EXPECT_EQ(cache.bytes(),
                  2 * cells * rows * tokens * o.width * static_cast<std::int64_t>(qkv.itemsize()));
      }
    }
  }
}

TEST(TokenChoice, KnownAnswers) {
  // Probabilities 0.5, 0.3, 0.2 of the tokens 2, 0, 1.
  const std::vector<float> logits = {std::log(0.3F), std::log(0.2F), std::log(0.5F)};
  const auto pick = [&](const TokenChoice& c, double u) { return choose_token(logits, c, u); };
  EXPECT_EQ(pick({}, 0.0), 2);
  EXPECT_EQ(pick({}, 0.49), 2);
  EXPECT_EQ(pick({}, 0.51), 0);
  EXPECT_EQ(pick({}, 0.79), 0);
  EXPECT_EQ(pick({}, 0.81), 1);
  EXPECT_EQ(pick({}, 0.999999), 1);
  EXPECT_EQ(pick({.temperature = 0}, 0.99), 2);
  EXPECT_EQ(pick({.top_k = 1}, 0.99), 2);
  EXPECT_EQ(pick({.top_k = 2}, 0.62), 2);  // 0.625 of what is left
  EXPECT_EQ(pick({.top_k = 2}, 0.63), 0);
  EXPECT_EQ(pick({.top_p = 0.5}, 0.99), 2);
  EXPECT_EQ(pick({.top_p = 0.6}, 0.99), 0);
  EXPECT_EQ(pick({.temperature = 0.5}, 0.65), 2);  // 0.25 of 0.38
  EXPECT_EQ(pick({.temperature = 0.5}, 0.66), 0);
}

TEST(TokenChoice, EqualLogitsGoByTheLowerId) {
  const std::vector<float> logits = {1, 2, 2, 2};
  EXPECT_EQ(choose_token(logits, {.temperature = 0}, 0.9), 1);
  EXPECT_EQ(choose_token(logits, {.top_k = 1}, 0.9), 1);
  EXPECT_EQ(choose_token(logits, {.top_k = 2}, 0.9), 2);
}

TEST(TokenChoice, RefusesWhatIsNotFinite) {
  const std::vector<float> logits = {1, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW(choose_token(logits, {}, 0.5), Error);
}

}  // namespace decoder_test
}  // namespace depthgrid::testing
