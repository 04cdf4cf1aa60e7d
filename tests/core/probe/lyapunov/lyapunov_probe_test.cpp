#include "core/probe/lyapunov/lyapunov_probe.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_slogdet.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randn.h>

#include "core/base/error.hpp"
#include "core/probe/lyapunov/kaplan_yorke.hpp"
#include "tests/core/probe/lyapunov/toy_subject.hpp"

namespace depthgrid::testing {
namespace lyapunov_probe_test {

/// Keeps what a probe writes: series by name, then the numbers of each cell.
class Written final : public RecordSink {
 public:
  std::size_t declare(const SeriesSpec& series) override {
    specs.push_back(series);
    return specs.size() - 1;
  }
  void write(std::size_t series, std::size_t cell, std::span<const double> values) override {
    std::size_t length = 1;
    for (const SeriesAxis& axis : specs[series].axes) {
      length *= static_cast<std::size_t>(axis.length);
    }
    EXPECT_EQ(values.size(), length) << specs[series].name;
    rows[specs[series].name][cell].assign(values.begin(), values.end());
  }

  double at(const std::string& name, std::size_t cell, std::size_t i = 0) const {
    return rows.at(name).at(cell).at(i);
  }

  std::vector<SeriesSpec> specs;
  std::map<std::string, std::map<std::size_t, std::vector<double>>> rows;
};

/// Of the same numbers, counting NaN as equal.
void expect_same_rows(const Written& a, std::size_t of_a, const Written& b, std::size_t of_b) {
  for (const auto& [name, cells] : a.rows) {
    const std::vector<double>& x = cells.at(of_a);
    const std::vector<double>& y = b.rows.at(name).at(of_b);
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool absent = std::isnan(x[i]) && std::isnan(y[i]);
      EXPECT_TRUE(absent ||
                  std::bit_cast<std::uint64_t>(x[i]) == std::bit_cast<std::uint64_t>(y[i]))
          << name << " " << i;
    }
  }
}

constexpr std::int64_t kLayers = 4, kTokens = 5, kWidth = 6, kEntries = 30;

/// Depth-times 0 … span of cells, with steps of equal length.
at::Tensor equal_times(std::int64_t cells, double span) {
  return at::linspace(0, span, kLayers + 1, at::kDouble).expand({cells, kLayers + 1}).contiguous();
}

ToySubject small_subject(const std::vector<std::uint64_t>& seeds, double span = 1) {
  return {CausalToy(kLayers, kWidth, seeds), seeded({3, kTokens, kWidth}, seeds, 1),
          equal_times(static_cast<std::int64_t>(seeds.size()), span)};
}

LyapunovOptions all_of_it() {
  LyapunovOptions o;
  o.subspace.exponents = 4;
  o.sequences = 3;
  o.variants = {LyapunovVariant::Raw, LyapunovVariant::Normalised, LyapunovVariant::Relative};
  o.influence_probes = 8;
  return o;
}

Written look_at(const ProbeSubject& subject, const LyapunovOptions& o) {
  Written out;
  LyapunovProbe probe(subject, o);
  probe.declare(out);
  probe.measure(0, out);
  return out;
}

at::Tensor log_stretches(const StateMap& map, const at::Tensor& x) {
  return at::linalg_svdvals(dense_jacobian(map, x)).log();
}

TEST(LyapunovProbe, ExponentsAreThoseOfTheDenseJacobians) {
  const ToySubject subject = small_subject({3}, 2);
  const Written found = look_at(subject, all_of_it());
  const StateMap whole = [&](const at::Tensor& x) { return subject.toy()(x); };
  const StateMap seen = [&](const at::Tensor& x) { return subject.final_norm(subject.toy()(x)); };

  std::vector<at::Tensor> raw, normalised, relative, determinants;
  for (std::int64_t b = 0; b < 3; ++b) {
    const at::Tensor x = subject.states(b, 1).front();
    raw.push_back(log_stretches(whole, x));
    normalised.push_back(log_stretches(seen, x));
    relative.push_back(raw.back() + x.norm().log() - whole(x).norm().log());
    determinants.push_back(std::get<1>(at::linalg_slogdet(dense_jacobian(whole, x))));
  }
  std::size_t i = 0;
  for (const auto& each : {raw, normalised, relative}) {
    const at::Tensor mean = at::stack(each).mean(0), spread = at::stack(each).std(0);
    for (std::int64_t k = 0; k < 4; ++k, ++i) {
      EXPECT_NEAR(found.at("lyapunov_log_stretch", 0, i), mean[k].item<double>(), 1e-8);
      EXPECT_NEAR(found.at("lyapunov_exponent", 0, i), mean[k].item<double>() / 2, 1e-8);
      EXPECT_NEAR(found.at("lyapunov_exponent_std", 0, i), spread[k].item<double>() / 2, 1e-8);
      EXPECT_EQ(found.at("lyapunov_exponent_error", 0, i), 0);  // a complete basis is exact
      EXPECT_LT(found.at("lyapunov_exponent_bound", 0, i), 1e-12);
    }
  }
  EXPECT_NEAR(found.at("lyapunov_log_det", 0), at::stack(determinants).mean().item<double>(), 1e-8);
  EXPECT_NEAR(found.at("lyapunov_batch_max", 0), at::stack(raw).max().item<double>() / 2, 1e-8);
  EXPECT_EQ(found.at("lyapunov_sequences", 0), 3);
  EXPECT_EQ(found.at("lyapunov_converged", 0), 1);
  EXPECT_EQ(found.at("lyapunov_iterations", 0), 1);
  const at::Tensor all = (at::stack(raw).mean(0) / 2).contiguous();  // 30, though 4 are recorded
  const auto* first = all.const_data_ptr<double>();
  const double dimension = kaplan_yorke({first, first + all.numel()}, all.numel());
  EXPECT_GT(dimension, 4);
  EXPECT_NEAR(found.at("lyapunov_kaplan_yorke", 0), dimension, 1e-6);
}

TEST(LyapunovProbe, StepsAddUpToTheDepth) {
  const ToySubject subject = small_subject({3});
  const Written found = look_at(subject, all_of_it());
  double stretches = 0, norms = 0;
  for (std::size_t l = 0; l < 4; ++l) {
    stretches += found.at("lyapunov_local_stretch", 0, l);
    norms += found.at("lyapunov_log_norm", 0, l) / 4;  // steps of length 1/4
  }
  for (std::size_t k = 0; k < 4; ++k) {
    double rates = 0;
    for (std::size_t l = 0; l < 4; ++l) rates += found.at("lyapunov_local_rate", 0, 4 * l + k);
    EXPECT_NEAR(rates, found.at("lyapunov_log_stretch", 0, k), 1e-8);
  }
  EXPECT_GE(stretches, found.at("lyapunov_log_stretch", 0, 0));  // of a product
  EXPECT_NEAR(norms, found.at("lyapunov_upper_bound", 0), 1e-10);
}

TEST(LyapunovProbe, OneLayerHasTheNumbersOfItsJacobian) {
  const ToySubject subject(CausalToy(1, kWidth, {3}), seeded({1, kTokens, kWidth}, {3}, 1),
                           at::linspace(0, 0.5, 2, at::kDouble).unsqueeze(0));
  LyapunovOptions o = all_of_it();
  o.influence_probes = 512;
  o.sequences = 1;
  const Written found = look_at(subject, o);
  const StateMap whole = [&](const at::Tensor& x) { return subject.toy()(x); };
  const at::Tensor d = dense_jacobian(whole, subject.states(0, 1).front());
  const at::Tensor blocks = d.view({kTokens, kWidth, kTokens, kWidth}).square().sum({1, 3});

  // Eight steps of Lanczos approach both from below.
  const double s = at::linalg_svdvals(d).log()[0].item<double>();
  EXPECT_NEAR(found.at("lyapunov_local_stretch", 0), s, 0.01);
  EXPECT_LE(found.at("lyapunov_local_stretch", 0), s + 1e-12);
  const double mu = at::linalg_eigvalsh((d + d.t()) / 2)[-1].item<double>() - 1;
  EXPECT_NEAR(found.at("lyapunov_upper_bound", 0), mu, 0.02 * mu);
  EXPECT_NEAR(found.at("lyapunov_log_norm", 0), mu / 0.5, 0.04 * mu);
  for (std::int64_t t = 0; t < kTokens; ++t) {
    const double exact = blocks[kTokens - 1][t].item<double>();
    EXPECT_NEAR(found.at("lyapunov_influence", 0, static_cast<std::size_t>(t)), exact, 0.3 * exact);
  }
}

TEST(LyapunovProbe, ALargeStateIsIterated) {
  const ToySubject subject(CausalToy(3, 32, {3}), seeded({1, 20, 32}, {3}, 1),
                           at::linspace(0, 1, 4, at::kDouble).unsqueeze(0));
  LyapunovOptions o;
  o.subspace = {.exponents = 2, .oversampling = 4, .iterations = 24, .tolerance = 1e-4};
  o.sequences = 1;
  const Written found = look_at(subject, o);
  const StateMap whole = [&](const at::Tensor& x) { return subject.toy()(x); };
  const at::Tensor exact = log_stretches(whole, subject.states(0, 1).front());

  EXPECT_EQ(found.at("lyapunov_converged", 0), 1);
  EXPECT_GT(found.at("lyapunov_iterations", 0), 1);
  EXPECT_TRUE(std::isnan(found.at("lyapunov_log_det", 0)));
  EXPECT_TRUE(std::isnan(found.at("lyapunov_kaplan_yorke", 0))) << "2 of 640, both positive";
  EXPECT_NEAR(found.at("lyapunov_exponent", 0, 0), exact[0].item<double>(), 1e-3);
  EXPECT_LT(found.at("lyapunov_exponent_error", 0, 1), 1e-3);
  for (const std::size_t k : {0, 1}) {
    const double value = found.at("lyapunov_exponent", 0, k);
    EXPECT_LE((exact - value).abs().min().item<double>(),
              found.at("lyapunov_exponent_bound", 0, k));
    EXPECT_LT(found.at("lyapunov_exponent_bound", 0, k), 0.1);
  }
  EXPECT_TRUE(std::isnan(found.at("lyapunov_exponent_std", 0)));  // of one sequence
}

TEST(LyapunovProbe, ACellHasTheSameBitsAloneAndFused) {
  const LyapunovOptions o = all_of_it();
  const Written fused = look_at(small_subject({3, 4, 5}), o);
  for (const std::size_t e : {0, 1, 2}) {
    expect_same_rows(look_at(small_subject({3 + e}), o), 0, fused, e);
  }
}

TEST(LyapunovProbe, ACellThatIsNotFiniteIsAbsentAndLeavesItsNeighboursAlone) {
  const ToySubject sound = small_subject({3, 4, 5}), broken = small_subject({3, 4, 5});
  broken.toy().own[1][1].fill_(std::nan(""));
  const Written before = look_at(sound, all_of_it());

  const Written after = look_at(broken, all_of_it());

  expect_same_rows(before, 0, after, 0);
  expect_same_rows(before, 2, after, 2);
  EXPECT_TRUE(std::isnan(after.at("lyapunov_exponent", 1)));
  EXPECT_TRUE(std::isnan(after.at("lyapunov_upper_bound", 1)));
  EXPECT_TRUE(std::isnan(after.at("lyapunov_local_rate", 1, 15)));
  EXPECT_EQ(after.at("lyapunov_sequences", 1), 0);
  EXPECT_EQ(after.at("lyapunov_converged", 1), 0);
}

TEST(LyapunovProbe, ASequenceThatIsNotFiniteIsLeftOut) {
  const at::Tensor x = seeded({3, kTokens, kWidth}, {3}, 1);
  const auto with = [](const at::Tensor& start, std::int64_t sequences) {
    LyapunovOptions o;
    o.sequences = sequences;
    return look_at(ToySubject(CausalToy(kLayers, kWidth, {3}), start, equal_times(1, 1)), o);
  };
  const Written two = with(x, 2);
  x.select(1, 2).fill_(std::nan(""));

  const Written found = with(x, 3);

  EXPECT_EQ(found.at("lyapunov_sequences", 0), 2);
  EXPECT_EQ(found.at("lyapunov_converged", 0), 1);
  EXPECT_NEAR(found.at("lyapunov_exponent", 0), two.at("lyapunov_exponent", 0), 1e-12);
}

TEST(LyapunovProbe, DeclaresWhatItsOptionsAskFor) {
  LyapunovOptions o;
  o.variants = {LyapunovVariant::Relative};
  o.sequences = 3;
  const Written found = look_at(small_subject({3}), o);
  EXPECT_EQ(found.specs.size(), 15U);  // no influence
  EXPECT_EQ(found.specs.front().axes.front().labels, std::vector<std::string>{"relative"});
  EXPECT_EQ(found.at("lyapunov_sequences", 0), 3);
  EXPECT_EQ(lyapunov_variant("normalised"), LyapunovVariant::Normalised);
  EXPECT_THROW(lyapunov_variant("local"), Error);
  o.variants.clear();
  const ToySubject subject = small_subject({3});
  EXPECT_THROW(LyapunovProbe(subject, o), Error);
}

TEST(LyapunovProbe, RefusesMoreSequencesThanTheSetHas) {
  const ToySubject subject = small_subject({3});
  LyapunovOptions o;
  o.sequences = 4;
  EXPECT_THROW(LyapunovProbe(subject, o), Error);
}

/// Notes how many sequences begin at once.
class CountingSubject final : public ToySubject {
 public:
  using ToySubject::ToySubject;
  at::Tensor start(std::int64_t first, std::int64_t count) const override {
    most = std::max(most, count);
    return ToySubject::start(first, count);
  }
  mutable std::int64_t most = 0;
};

TEST(LyapunovProbe, LooksAtNoMoreSequencesAtOnceThanAPassOfTrainingHas) {
  const std::vector<std::uint64_t> seeds = {3};
  LyapunovOptions o = all_of_it();
  std::vector<double> exponents;
  for (const std::int64_t batch : {1, 2, 8}) {
    const CountingSubject subject(CausalToy(kLayers, kWidth, seeds),
                                  seeded({3, kTokens, kWidth}, seeds, 1), equal_times(1, 1));
    o.batch = batch;
    exponents.push_back(look_at(subject, o).at("lyapunov_exponent", 0));
    EXPECT_EQ(subject.most, std::min<std::int64_t>(batch, 3));
  }
  EXPECT_NEAR(exponents[0], exponents[2], 1e-12);
  EXPECT_NEAR(exponents[1], exponents[2], 1e-12);
}

/// Ends a look when the first sequences begin; start() is asked once before, for a shape.
class BeginningSubject final : public ToySubject {
 public:
  using ToySubject::ToySubject;
  at::Tensor start(std::int64_t first, std::int64_t count) const override {
    at_once = count;
    if (asked++ > 0) throw Error("begun");
    return ToySubject::start(first, count);
  }
  mutable std::int64_t at_once = 0, asked = 0;
};

// As many as their directions leave room for, whatever the number of cells, which would change
// bits.
TEST(LyapunovProbe, LooksAtAsManySequencesAtOnceWithMoreCells) {
  constexpr std::int64_t kLong = 64, kWide = 64;  // 4 MB of directions for a sequence
  LyapunovOptions o;
  o.subspace.exponents = 124;
  o.subspace.oversampling = 4;
  o.sequences = o.batch = 5;
  for (const std::vector<std::uint64_t>& seeds : {std::vector<std::uint64_t>{3}, {3, 4}}) {
    const auto cells = static_cast<std::int64_t>(seeds.size());
    const BeginningSubject subject(CausalToy(kLayers, kWide, seeds),
                                   seeded({5, kLong, kWide}, seeds, 1), equal_times(cells, 1));
    EXPECT_THROW(look_at(subject, o), Error);
    EXPECT_EQ(subject.at_once, 4) << cells << " cells";
  }
}

TEST(LyapunovProbe, ASubjectWithoutWeightsHasNoCopyInFloat64) {
  LyapunovOptions o;
  o.wide = true;
  const ToySubject subject = small_subject({3});
  EXPECT_THROW(look_at(subject, o), Error);
}

TEST(LyapunovProbe, TheGlobalGeneratorIsNotUsed) {
  const ToySubject subject = small_subject({3});
  at::manual_seed(5);
  const at::Tensor undisturbed = at::randn({3});
  at::manual_seed(5);
  look_at(subject, all_of_it());
  EXPECT_TRUE(at::equal(undisturbed, at::randn({3})));
}

}  // namespace lyapunov_probe_test
}  // namespace depthgrid::testing
