// The terms of a control phase beside the likelihood: against loops over sentences, tokens and
// words in double precision, against central differences of those, and cell by cell.
#include "models/control_objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace control_objective_test {

constexpr std::int64_t kAxes = 2;
constexpr std::int64_t kBatch = 3, kRows = 2, kTokens = 7;  // of a small batch
constexpr double kRowsInBatch = 2.5;
constexpr std::array<const char*, 3> kNames = {"contrastive", "attribute", "anchor"};
constexpr std::array<double, 3> kWeights = {.7, 1.1, 1.7};

std::vector<ModelCase> contrast_cases() {
  const auto layers = [](ModelOptions& o) { o.control.layers = {0, 2}; };
  const auto bounded = [](ModelOptions& o) {
    o.control.in_flow = true;
    o.gradient.mode = GradientMode::Checkpoint;
    with_regularisers(o, {Regulariser::Energy, Regulariser::ControlSmoothness}, {.5, .51});
  };
  return {{"standard", "standard", layers},
          {"hybrid_ode", "hybrid_ode", [](ModelOptions& o) { o.control.in_flow = true; }},
          {"tdt", "tdt", layers},
          {"standard_prefix", "standard", [](ModelOptions& o) { o.control.as_prefix = true; }},
          {"hybrid_ode_bounded", "hybrid_ode", bounded},
          {"standard_dropout", "standard", [=](ModelOptions& o) {
             layers(o);
             o.dropout_mlp.assign(o.dropout_mlp.size(), .2);
           }}};
}

ModelOptions options_of(const ModelCase& c, std::int64_t cells) {
  ModelOptions o = small_options(c.family, cells);
  o.control = {.axes = kAxes, .contrasts = true};
  c.change(o);
  return o;
}

bool is_map(const ParameterSlot& slot) {
  return slot.spec.group == ParameterGroup::Control && !slot.spec.name.starts_with("contrast.");
}

/// A model whose signal matters, and whose scale and biases are not where they start.
Built steered(const ModelOptions& o, at::ScalarType type = at::kFloat) {
  Built out = built_and_moved(o, type);
  const at::NoGradGuard no_grad;
  for (const ParameterSlot& slot : out.arena->layout().slots()) {
    if (slot.spec.group == ParameterGroup::Control) slot_view(out.arena->values(), slot).mul_(8);
  }
  return out;
}

/// Sentences of three tokens, the first and the last one cut by the window; every third has no
/// label. Cells and rows differ in all of it.
Contrast some_contrast(std::int64_t cells, std::int64_t rows, std::int64_t tokens) {
  Contrast out{at::zeros({cells, rows, tokens}, at::kLong), at::full({cells, rows, tokens}, -1.0F),
               at::zeros({cells, rows}, at::kLong), at::zeros({cells, rows})};
  for (std::int64_t e = 0; e < cells; ++e) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t shift = e * rows + r;
      std::int64_t number = 0;
      for (std::int64_t t = 0; t < tokens; ++t) {
        if (t > 0 && (t + shift) % 3 == 0) ++number;
        out.sentence[e][r][t] = number;
        out.label[e][r][number] = 1 - (number + 2 * shift) % 3;
      }
      out.axis[e][r] = (e + r) % kAxes;
      out.wanted[e][r] = (e + r / 2) % 2 == 0 ? 1 : -1;
    }
  }
  return out;
}

Batch some_batch(const ModelOptions& o) {
  const std::int64_t each = o.control.as_prefix ? 1 : kTokens;
  return {.windows = at::randint(0, o.vocabulary, {o.cells, kBatch, kTokens + 1}, at::kLong),
          .step = 3,
          .first_row = 5,
          .control = {at::randn({o.cells, kBatch, each, kAxes})},
          .contrast = some_contrast(o.cells, kRows, kTokens)};
}

ControlTerms all_terms(const ModelOptions& o, const Model& reference) {
  const auto cells = static_cast<std::size_t>(o.cells);
  return {.contrastive = std::vector(cells, kWeights[0]),
          .attribute = std::vector(cells, kWeights[1]),
          .anchor = std::vector(cells, kWeights[2]),
          .rows_in_batch = kRowsInBatch,
          .words = at::randn({o.cells, kAxes, o.vocabulary}) * 3,
          .words_bias = at::randn({o.cells, kAxes}),
          .reference = &reference};
}

/// A language model that says nothing, so that the terms are alone.
class Silent final : public Objective {
 public:
  explicit Silent(const Built& built)
      : nothing_(at::zeros({built.options.cells}, built.arena->values().options())) {}
  Losses losses(const Batch&) override { return {nothing_, nothing_, {}}; }

 private:
  at::Tensor nothing_;
};

/// A model, the one that it is held to, and what is asked of them.
struct Small {
  explicit Small(const ModelCase& c, std::int64_t cells = 2, at::ScalarType type = at::kFloat)
      : o(options_of(c, cells)),
        built(steered(o, type)),
        reference(steered(o, type)),
        batch(some_batch(o)),
        terms(all_terms(o, *reference.model)) {}

  /// Of these terms without the loss of a text.
  Objective::Losses alone(const ControlTerms& these, const Batch& of) const {
    Silent silent(built);
    return ControlObjective(silent, *built.model, built.seeds, these).losses(of);
  }
  /// With the loss of the text.
  Objective::Losses all() const {
    CellLanguageModel language(*built.model, built.seeds);
    return ControlObjective(language, *built.model, built.seeds, terms).losses(batch);
  }
  Objective::Losses text() const {
    return CellLanguageModel(*built.model, built.seeds).losses(batch);
  }
  at::Tensor gradients() const { return built.arena->gradients().clone(); }

  ModelOptions o;
  Built built, reference;
  Batch batch;
  ControlTerms terms;
};

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

/// Log-probabilities (E, R, T, V) in double of the contrasted rows; value (E, R) on the row's axis.
at::Tensor log_p(const Built& built, const Batch& batch, const at::Tensor& value) {
  const at::NoGradGuard no_grad;
  const at::Tensor u = at::zeros({value.size(0), kRows, 1, kAxes});
  u.scatter_(3, batch.contrast.axis.view({-1, kRows, 1, 1}), value.view({-1, kRows, 1, 1}));
  const ForwardContext context{.training = true,
                               .step = batch.step,
                               .first_row = batch.first_row,
                               .seeds = &built.seeds,
                               .control = {u}};
  const at::Tensor all = batch.windows.expand({built.options.cells, -1, -1});
  const at::Tensor z =
      built.model->logits(all.narrow(1, 0, kRows).narrow(2, 0, kTokens), context).to(at::kDouble);
  return z - z.exp().sum(-1, /*keepdim=*/true).log();
}

double cross_entropy(double odds, double label) {
  const double p = 1 / (1 + std::exp(-odds));
  return -label * std::log(p) - (1 - label) * std::log(1 - p);
}

/// Sums over the rows of a cell, by definition.
double contrastive_by_hand(const Small& of, std::int64_t e) {
  const Contrast& told = of.batch.contrast;
  const at::Tensor gain = log_p(of.built, of.batch, at::full_like(told.wanted, 1)) -
                          log_p(of.built, of.batch, at::full_like(told.wanted, -1));
  const auto each = gain.accessor<double, 4>();
  const at::Tensor all = of.batch.windows.expand({of.o.cells, -1, -1});
  const auto word = all.accessor<std::int64_t, 3>();
  const auto sentence = told.sentence.accessor<std::int64_t, 3>();
  const double scale = 1 + of.built.parameter("contrast.scale")[e][0].item<double>();
  double sum = 0;
  for (std::int64_t r = 0; r < kRows; ++r) {
    const auto axis = told.axis[e][r].item<std::int64_t>();
    const auto bias = of.built.parameter("contrast.bias")[e][axis].item<double>();
    for (std::int64_t s = 0; s < kTokens; ++s) {
      const auto label = told.label[e][r][s].item<double>();
      double score = 0, tokens = 0;
      for (std::int64_t t = 0; t < kTokens; ++t) {
        if (sentence[e][r][t] != s) continue;
        score += each[e][r][t][word[e][r][t + 1]];
        ++tokens;
      }
      if (tokens == 0 || label < 0) continue;
      sum += tokens * cross_entropy(scale * score / tokens + bias, label);
    }
  }
  return sum;
}

double attribute_by_hand(const Small& of, std::int64_t e) {
  const Contrast& told = of.batch.contrast;
  const at::Tensor log = log_p(of.built, of.batch, told.wanted);
  double sum = 0;
  for (std::int64_t r = 0; r < kRows; ++r) {
    const auto axis = told.axis[e][r].item<std::int64_t>();
    double odds = of.terms.words_bias[e][axis].item<double>();
    for (std::int64_t t = 0; t < kTokens; ++t) {
      odds += (log[e][r][t].exp() * of.terms.words[e][axis]).sum().item<double>() / kTokens;
    }
    sum += kTokens * cross_entropy(odds, told.wanted[e][r].item<float>() > 0 ? 1 : 0);
  }
  return sum;
}

double anchor_by_hand(const Small& of, std::int64_t e) {
  const at::Tensor none = at::zeros({of.o.cells, kRows});
  const at::Tensor before = log_p(of.reference, of.batch, none),
                   now = log_p(of.built, of.batch, none);
  return (before.exp() * (before - now))[e].sum().item<double>();
}

class FurtherTerms : public ::testing::TestWithParam<ModelCase> {};

TEST_P(FurtherTerms, AreSumsOverSentencesRowsAndTokens) {
  Small of(GetParam());
  for (const bool shared : {false, true}) {
    if (shared) of.batch.windows = of.batch.windows.narrow(0, 0, 1);  // one text for all cells
    const Objective::Losses plain = of.text(), all = of.all();
    const std::size_t own = plain.parts.size();
    ASSERT_EQ(all.parts.size(), own + 3);
    EXPECT_TRUE(at::equal(all.loss, plain.loss)) << "what is reported as the loss of the text";
    for (std::int64_t e = 0; e < 2; ++e) {
      const std::array<double, 3> sums = {contrastive_by_hand(of, e), attribute_by_hand(of, e),
                                          anchor_by_hand(of, e)};
      auto total = plain.total[e].item<double>();
      for (std::size_t i = 0; i < 3; ++i) {
        const auto part = all.parts[own + i][e].item<double>();
        total += kWeights[i] * part;
        const double sum = kRowsInBatch * sums[i];
        EXPECT_NEAR(part, sum, 1e-4 * std::max(1.0, std::abs(sum))) << kNames[i] << ", cell " << e;
      }
      EXPECT_NEAR(all.total[e].item<double>(), total, 1e-5 * std::abs(total)) << e;
    }
  }
}

/// Maps of zero make every score 0: a fair coin for each label, and gradients that are known.
TEST_P(FurtherTerms, TellNothingBeforeASignalIsTrained) {
  Small of(GetParam());
  of.built = Built(of.o, seeds_of(of.o));
  const Contrast& told = of.batch.contrast;
  const Objective::Losses losses = of.alone({.contrastive = {1, 1}}, of.batch);
  losses.total.sum().backward();
  const at::Tensor all = of.gradients();
  const auto gradient = [&](const std::string& name) {
    return slot_view(all, of.built.arena->layout().find(name));
  };
  for (std::int64_t e = 0; e < 2; ++e) {
    float labelled = 0;
    const at::Tensor bias = at::zeros({kAxes});
    for (std::int64_t i = 0; i < kRows * kTokens; ++i) {
      const std::int64_t r = i / kTokens, t = i % kTokens;
      const at::Tensor label = told.label[e][r][told.sentence[e][r][t].item<std::int64_t>()];
      if (label.item<float>() < 0) continue;
      ++labelled;
      bias[told.axis[e][r].item<std::int64_t>()] += .5 - label;
    }
    EXPECT_FLOAT_EQ(losses.parts[0][e].item<float>(), labelled * std::numbers::ln2_v<float>);
    EXPECT_EQ(largest(gradient("contrast.scale")[e]), 0) << "it scales a score of 0";
    EXPECT_LE(largest(gradient("contrast.bias")[e] - bias), 1e-6);
    for (const ParameterSlot& slot : of.built.arena->layout().slots()) {
      EXPECT_TRUE(!is_map(slot) || largest(slot_view(all, slot)[e]) > 0) << slot.spec.name;
    }
  }
}

TEST_P(FurtherTerms, DependOnTheLabelsThatThereAre) {
  const Small of(GetParam());
  const ControlTerms terms{.contrastive = {1, 1}};
  Batch shuffled = of.batch, none = of.batch;
  const at::Tensor label = of.batch.contrast.label.clone();
  label.narrow(2, 0, 3).copy_(of.batch.contrast.label.narrow(2, 0, 3).roll(1, 2));
  shuffled.contrast.label = label;  // each row's three sentences changed places
  const at::Tensor before = of.alone(terms, of.batch).parts[0];
  EXPECT_GT((of.alone(terms, shuffled).parts[0] - before).abs().min().item<float>(), 1e-3);
  none.contrast.label = at::full_like(label, -1);
  const Objective::Losses nothing = of.alone(terms, none);
  EXPECT_EQ(largest(nothing.parts[0]), 0);
  nothing.total.sum().backward();
  EXPECT_EQ(largest(of.gradients()), 0);
}

TEST_P(FurtherTerms, HoldAModelToTheOneItIs) {
  const Small of(GetParam());
  const ControlTerms terms{.anchor = {1, 1}, .reference = of.reference.model.get()};
  const at::Tensor values = of.reference.arena->values();
  values.copy_(of.built.arena->values());
  const auto part_and_gradients = [&] {
    of.built.arena->zero_gradients();
    const Objective::Losses losses = of.alone(terms, of.batch);
    losses.total.sum().backward();
    return std::pair(losses.parts[0].detach(), of.gradients());
  };
  constexpr double kNothing = 1e-7 * kRows * kTokens;
  const auto [same, still] = part_and_gradients();
  EXPECT_LE(largest(same), kNothing);
  EXPECT_LE(largest(still), 3e-5);
  for (const ParameterSlot& slot : of.reference.arena->layout().slots()) {
    if (is_map(slot)) slot_view(values, slot).mul_(2);
  }
  EXPECT_LE(largest(part_and_gradients().first), kNothing) << "under no signal no map is read";
  values[1].add_(at::randn_like(values[1]) * .1);
  const auto [part, gradients] = part_and_gradients();
  EXPECT_LE(largest(part[0]), kNothing);
  EXPECT_LE(largest(gradients[0]), 3e-5);
  EXPECT_GT(part[1].item<double>(), 1e-3);
  EXPECT_GT(largest(gradients[1]), 1e-2);
  EXPECT_EQ(largest(of.reference.arena->gradients()), 0) << "it is not trained";
}

using Numbers = std::map<std::string, at::Tensor>;  // (cells, ...)

/// Some of three cells that differ in all that may differ between them, trained together in a
/// vocabulary and windows for which LibTorch takes the products of a library.
Numbers trained(const ModelCase& one, const std::vector<std::int64_t>& cells, std::int64_t rows,
                int threads = 1) {
  constexpr std::int64_t kLong = 33, kMany = 450, kLarge = 4;
  at::set_num_threads(threads);
  at::manual_seed(7);
  ModelOptions o = options_of(one, std::ssize(cells));
  o.vocabulary = kMany;
  o.max_tokens = kLong;
  const at::Tensor index = at::tensor(cells);
  const auto pick = [&](const at::Tensor& all) { return all.index_select(0, index); };
  const auto picked = [&](const std::vector<double>& all) {
    std::vector<double> out;
    for (const std::int64_t e : cells) out.push_back(all[static_cast<std::size_t>(e)]);
    return out;
  };
  if (!o.routing.layers.empty()) o.routing.capacity = picked({.5, .25, .75});
  const auto moved = [&](std::int64_t seed) {
    std::vector<std::uint64_t> seeds;
    for (const std::int64_t e : cells) seeds.push_back(static_cast<std::uint64_t>(seed + e));
    Built out(o, seeds);
    const at::NoGradGuard no_grad;
    out.arena->values().add_(pick(at::randn({3, out.arena->size()})) * .1);
    return out;
  };
  const Built built = moved(11), reference = moved(21);
  const Contrast all = some_contrast(3, rows, kLong);
  const std::int64_t each = o.control.as_prefix ? 1 : kLong;
  const Batch batch{
      .windows = pick(at::randint(0, kMany, {3, kLarge, kLong + 1}, at::kLong)),
      .step = 2,
      .control = {pick(at::randn({3, kLarge, each, kAxes}))},
      .contrast = {pick(all.sentence), pick(all.label), pick(all.axis), pick(all.wanted)}};
  CellLanguageModel language(*built.model, built.seeds);
  ControlObjective objective(language, *built.model, built.seeds,
                             {.contrastive = picked({1, .5, 2}),
                              .attribute = picked({0, 1, .3}),
                              .anchor = picked({.2, 0, 1}),
                              .rows_in_batch = kLarge / static_cast<double>(rows),
                              .words = pick(at::randn({3, kAxes, kMany})) * 3,
                              .words_bias = pick(at::randn({3, kAxes})),
                              .reference = reference.model.get()});
  const Objective::Losses losses = objective.losses(batch);
  losses.total.backward(at::full({o.cells}, 1.0 / (kLarge * kLong)));
  Numbers out{{"total", losses.total.detach()}, {"gradients", built.arena->gradients().clone()}};
  std::size_t i = 0;
  for (const auto name : objective.loss_parts()) out[std::string(name)] = losses.parts.at(i++);
  return out;
}

TEST_P(FurtherTerms, OfFusedCellsAreThoseOfEachAlone) {
  for (const std::int64_t rows : {3, 1}) {
    const Numbers together = trained(GetParam(), {0, 1, 2}, rows);
    for (std::int64_t e = 0; e < 3; ++e) {
      for (const auto& [name, number] : trained(GetParam(), {e}, rows)) {
        EXPECT_TRUE(at::equal(together.at(name)[e], number[0]))
            << name << " of cell " << e << " with " << rows << " rows";
      }
    }
  }
}

TEST_P(FurtherTerms, OfTwoThreadsAreThoseOfOne) {
  const Numbers two = trained(GetParam(), {2}, 3, 2);
  const Numbers one = trained(GetParam(), {2}, 3);
  for (const auto& [name, number] : one) {
    if (name == "gradients") continue;  // products of small matrices are divided among threads
    EXPECT_TRUE(at::equal(number, two.at(name))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, FurtherTerms, ::testing::ValuesIn(contrast_cases()),
                         [](const auto& c) { return c.param.name; });

/// Gradients, up to the float32 in which terms are computed, against central differences.
void expect_gradient_of_loops(const ModelCase& one, std::array<double, 3> weights, bool of_text) {
  Small of(one, 1, at::kDouble);
  of.terms.contrastive = {weights[0]};
  of.terms.attribute = {weights[1]};
  of.terms.anchor = {weights[2]};
  (of_text ? of.all() : of.alone(of.terms, of.batch)).total.sum().backward();
  const at::Tensor gradients = of.gradients();
  of.built.arena->layout().find("layers.0.attn.qkv.weight");  // throws if there is no such matrix
  const at::NoGradGuard no_grad;
  const auto value = [&] {
    const double sum = weights[0] * contrastive_by_hand(of, 0) +
                       weights[1] * attribute_by_hand(of, 0) + weights[2] * anchor_by_hand(of, 0);
    return kRowsInBatch * sum + (of_text ? of.text().total.item<double>() : 0);
  };
  for (const ParameterSlot& slot : of.built.arena->layout().slots()) {
    const bool trunk = slot.spec.name == "layers.0.attn.qkv.weight";
    if (!trunk && slot.spec.group != ParameterGroup::Control) continue;
    const at::Tensor p = slot_view(of.built.arena->values(), slot);
    const at::Tensor g = slot_view(gradients, slot);
    const auto norm = g.norm().item<double>();
    for (const at::Tensor& direction :
         {at::Tensor(g / std::max(norm, 1e-9)), at::randn_like(g).sign()}) {
      constexpr double kStep = 1e-5;
      p.add_(direction, kStep);
      const double up = value();
      p.sub_(direction, 2 * kStep);
      const double down = value();
      p.add_(direction, kStep);
      EXPECT_NEAR((up - down) / (2 * kStep), (g * direction).sum().item<double>(),
                  1e-5 * std::max(1.0, norm))
          << one.name << ": " << slot.spec.name << ", norm " << norm;
    }
    // The scale and the biases are of the first term, and the last one is under no signal.
    const bool read =
        weights[0] > 0 || trunk || (is_map(slot) && weights[1] > 0) || (is_map(slot) && of_text);
    EXPECT_EQ(norm > 1e-3, read) << one.name << ": " << slot.spec.name << ", norm " << norm;
  }
}

TEST(FurtherTermsGradient, IsThatOfCentralDifferences) {
  for (const ModelCase& one : contrast_cases()) {
    if (one.name == "tdt" || one.name == "standard_dropout") continue;  // decisions jump
    expect_gradient_of_loops(one, {1, 0, 0}, false);
    expect_gradient_of_loops(one, {0, 1, 0}, false);
    expect_gradient_of_loops(one, {0, 0, 1}, false);
    expect_gradient_of_loops(one, kWeights, true);
  }
}

TEST(ControlObjective, NamesTheTermsThatHaveAWeightBehindThoseOfTheFamily) {
  using Names = std::vector<std::string_view>;
  const auto names = [](std::size_t which, const std::array<double, 3>& weights) {
    Small of(contrast_cases()[which]);
    of.terms.contrastive = {0, weights[0]};
    of.terms.attribute = {weights[1], 0};
    of.terms.anchor = {weights[2], weights[2]};
    CellLanguageModel language(*of.built.model, of.built.seeds);
    ControlObjective objective(language, *of.built.model, of.built.seeds, of.terms);
    EXPECT_EQ(objective.losses(of.batch).parts.size(), objective.loss_parts().size());
    return objective.loss_parts();
  };
  EXPECT_EQ(names(0, {1, 1, 1}), (Names{"contrastive", "attribute", "anchor"}));
  EXPECT_EQ(names(0, {0, 2, 0}), Names{"attribute"});
  EXPECT_EQ(names(0, {0, 0, 0}), Names{});
  EXPECT_EQ(names(2, {1, 0, 1}), (Names{"tpn", "causal", "contrastive", "anchor"}));
  EXPECT_EQ(names(4, {1, 0, 0}), (Names{"energy", "control_smoothness", "contrastive"}));
}

TEST(ControlObjective, IsTheLossOfTheTextWhereNoRowIsContrasted) {
  for (const ModelCase& one : contrast_cases()) {
    Small of(one);
    of.batch.contrast = {};
    const Objective::Losses plain = of.text(), all = of.all();
    EXPECT_TRUE(at::equal(all.total, plain.total) && at::equal(all.loss, plain.loss));
    ASSERT_EQ(all.parts.size(), plain.parts.size() + 3) << one.name;
    for (std::size_t i = plain.parts.size(); i < all.parts.size(); ++i) {
      EXPECT_TRUE(at::equal(all.parts[i], at::zeros({2}))) << one.name;
    }
  }
}

}  // namespace control_objective_test
}  // namespace depthgrid::testing
