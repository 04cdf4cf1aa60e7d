#include "models/routing_probe.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>

#include "core/base/error.hpp"
#include "models/calibration.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/routing/execution_masks.hpp"
#include "models/routing/top_k.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace routing_probe_test {

constexpr std::int64_t kTokens = 21;

ProbeSet probe_set(const ModelOptions& o) {
  ProbeSet set;
  set.windows = at::randint(0, o.vocabulary, {6, kTokens + 1}, at::kLong);
  return set;
}

/// What a probe finds at a model.
RecordedRows look(const Model& model, const ProbeSet& set, std::int64_t masks = 2,
                  std::int64_t batch = 4) {
  RecordedRows out;
  RoutingProbe probe(model, set, {.schedule = {}, .masks = masks, .batch = batch});
  probe.declare(out);
  probe.measure(0, out);
  return out;
}

RecordedRows look(const Built& built, const ProbeSet& set) {
  return look(*built.model, set);
}

/// Loss per token of a training pass whose stop-gradient values are `held`, which makes it the
/// function that autograd differentiates.
double loss_of(const Model& model, const ProbeSet& set, std::shared_ptr<const RoutingRecord> held,
               RoutingRecord* record = nullptr) {
  const at::NoGradGuard no_grad;
  const std::vector<std::uint64_t> seeds = {0};
  const at::Tensor text = set.windows.unsqueeze(0);
  ForwardContext context{.training = true, .step = 1, .seeds = &seeds, .routing = record};
  if (held) context.execution = Execution{.held = std::move(held)};
  const at::Tensor logits = model.logits(text.narrow(2, 0, kTokens), context);
  return cell_cross_entropy(logits, text.narrow(2, 1, kTokens))[0].item<double>() /
         static_cast<double>(set.sequences() * kTokens);
}

TEST(RoutingProbe, TeacherAndStudentAreWhatTheirPassesExecute) {
  const ModelOptions o = small_options("tdt", 2);
  const Built built(o, {1, 2});
  const ProbeSet set = probe_set(o);

  const RecordedRows found = look(built, set);

  const at::NoGradGuard no_grad;
  const at::Tensor text = set.windows.narrow(1, 0, kTokens);
  Execution student{.mode = ExecutionMode::Student};
  student.thresholds = calibrated_thresholds(*built.model, {text}, student);
  RoutingRecord record;
  built.model->states(text.unsqueeze(0).expand({2, -1, -1}),
                      {.execution = student, .routing = &record});
  ExecutionMasks masks;
  for (const LayerRouting& layer : record.layers) masks.push_back(layer.executed);
  const auto dynamic = static_cast<double>(masks.size());
  for (std::size_t e = 0; e < 2; ++e) {
    const double executed = executed_per_token(masks)[e];
    const double always = static_cast<double>(o.layers) - dynamic;
    EXPECT_EQ(found.row("routing_blocks_per_token", e)[0], always + executed);
    EXPECT_EQ(found.row("routing_unexecuted_share", e)[0], unexecuted_shares(masks)[e]);
    EXPECT_EQ(found.row("routing_longest_skip", e)[0], longest_skips(masks)[e]);
    EXPECT_EQ(found.row("routing_kv_bytes", e)[0],
              (always + executed) * 8 * static_cast<double>(o.width * kTokens));
    double fill = 0;
    for (const double share : found.row("routing_kv_fill", e)) fill += share;
    EXPECT_NEAR(fill, always + executed, 1e-12);
    // The teacher selects k of T tokens of each sequence.
    const std::vector<std::int64_t> k = capacities(o.routing, kTokens);
    for (const std::int64_t layer : o.routing.layers) {
      EXPECT_NEAR(found.row("routing_capacity", e)[static_cast<std::size_t>(layer)],
                  static_cast<double>(k[e]) / kTokens, 1e-12);
    }
  }
}

/// Numbers of one layer of a router, token by token.
struct RouterNumbers {
  double bce = 0, accuracy = 0, precision = 0, recall = 0, f1 = 0, auc = 0, ece = 0,
         probability = 0, top_k = 0;
  std::vector<double> reliability;

  explicit RouterNumbers(const LayerRouting& r) {
    const at::Tensor logits = r.logits[0].to(at::kDouble).contiguous();
    const at::Tensor wanted = r.target[0].contiguous();
    std::vector<double> x(logits.const_data_ptr<double>(),
                          logits.const_data_ptr<double>() + logits.numel());
    const bool* y = wanted.const_data_ptr<bool>();
    double hits = 0, chosen = 0, right = 0, pairs = 0, above = 0, in_top = 0;
    std::vector<double> count(10), of(10), sum(10);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double p = 1 / (1 + std::exp(-x[i]));
      bce -= std::log(y[i] ? p : 1 - p);
      accuracy += (p > 0.5) == y[i] ? 1 : 0;
      probability += p;
      hits += p > 0.5 && y[i] ? 1 : 0;
      chosen += p > 0.5 ? 1 : 0;
      right += y[i] ? 1 : 0;
      const auto bin = static_cast<std::size_t>(std::min(9.0, std::floor(10 * p)));
      count[bin] += 1;
      of[bin] += y[i] ? 1 : 0;
      sum[bin] += p;
      for (std::size_t j = 0; j < x.size(); ++j) {
        if (!y[i] || y[j]) continue;
        pairs += 1;
        above += x[i] > x[j] || (x[i] == x[j] && i > j) ? 1 : 0;  // the first token's may be equal
      }
      // Rank of this token in its sequence, as many as the teacher selects of it being in front.
      const std::size_t begin = i / kTokens * kTokens;
      int rank = 0, k = 0;
      for (std::size_t j = begin; j < begin + kTokens; ++j) {
        rank += x[j] > x[i] ? 1 : 0;
        k += y[j] ? 1 : 0;
      }
      in_top += y[i] && rank < k ? 1 : 0;
    }
    const auto n = static_cast<double>(x.size());
    bce /= n;
    accuracy /= n;
    probability /= n;
    precision = hits / chosen;
    recall = hits / right;
    f1 = 2 * precision * recall / (precision + recall);
    auc = above / pairs;
    top_k = in_top / right;
    for (std::size_t bin = 0; bin < 10; ++bin) {
      ece += std::abs(sum[bin] - of[bin]) / n;
      reliability.push_back(of[bin] / count[bin]);
    }
  }
};

RoutingRecord student_record(const Built& built, const ProbeSet& set) {
  const at::NoGradGuard no_grad;
  const at::Tensor text = set.windows.narrow(1, 0, kTokens);
  Execution student{.mode = ExecutionMode::Student};
  if (built.options.facts().teaches) {
    student.thresholds = calibrated_thresholds(*built.model, {text}, student);
  }
  RoutingRecord record;
  record.teach = true;
  built.model->states(text.unsqueeze(0), {.execution = student, .routing = &record});
  return record;
}

TEST(RoutingProbe, TheRouterIsMeasuredOnTheStudentsStatesToo) {
  const ModelOptions o = small_options("tdt");
  const Built built = built_and_moved(o, at::kFloat);
  const ProbeSet set = probe_set(o);
  const RecordedRows found = look(built, set);
  double moved = 0;
  for (const LayerRouting& layer : student_record(built, set).layers) {
    const auto l = static_cast<std::size_t>(layer.layer);
    const RouterNumbers expected(layer);
    const auto check = [&](const std::string& name, double value) {
      EXPECT_NEAR(found.row(name + "_student")[l], value, 1e-6) << name;
      moved = std::max(moved, std::abs(found.row(name)[l] - value));
    };
    check("router_bce", expected.bce);
    check("router_accuracy", expected.accuracy);
    check("router_precision", expected.precision);
    check("router_recall", expected.recall);
    check("router_f1", expected.f1);
    check("router_auc", expected.auc);
    check("router_ece", expected.ece);
    check("router_probability_mean", expected.probability);
    check("router_topk_recall", expected.top_k);
    for (std::size_t bin = 0; bin < 10; ++bin) {
      const double value = found.row("router_reliability_student")[10 * l + bin];
      if (std::isnan(expected.reliability[bin])) {
        EXPECT_TRUE(std::isnan(value)) << bin;
      } else {
        EXPECT_NEAR(value, expected.reliability[bin], 1e-12) << bin;
      }
    }
    const double rate = layer.target.to(at::kDouble).mean().item<double>();
    const double entropy = -rate * std::log(rate) - (1 - rate) * std::log(1 - rate);
    EXPECT_NEAR(found.row("router_bce_relative_student")[l], expected.bce / entropy, 1e-6);
  }
  EXPECT_GT(moved, 1e-3) << "both are of the same states";
}

TEST(RoutingProbe, SoIsThePredictorOfMod) {
  const ModelOptions o = small_options("mod");
  const Built built = built_and_moved(o, at::kFloat);
  const ProbeSet set = probe_set(o);
  const RecordedRows found = look(built, set);
  double moved = 0;
  for (const LayerRouting& layer : student_record(built, set).layers) {
    const auto l = static_cast<std::size_t>(layer.layer);
    const RouterNumbers expected(layer);
    EXPECT_NEAR(found.row("mod_predictor_accuracy_student")[l], expected.accuracy, 1e-6);
    EXPECT_NEAR(found.row("mod_predictor_auc_student")[l], expected.auc, 1e-6);
    moved = std::max(moved, std::abs(found.row("mod_predictor_auc")[l] - expected.auc));
  }
  EXPECT_GT(moved, 1e-4) << "both are of the same states";
}

TEST(RoutingProbe, MasksAreThoseOfThePasses) {
  const ModelOptions o = small_options("tdt");
  const Built built(o, {1});
  const ProbeSet set = probe_set(o);
  const RecordedRows found = look(built, set);
  const std::size_t bytes = 3;  // 21 tokens
  const std::vector<double>& mask = found.row("routing_capacity_mask");
  ASSERT_EQ(mask.size(), static_cast<std::size_t>(o.layers) * 2 * bytes);
  const std::int64_t k = capacities(o.routing, kTokens)[0];
  for (std::int64_t layer = 0; layer < o.layers; ++layer) {
    const auto first = static_cast<std::size_t>(layer) * 2 * bytes;
    if (!o.routing.index(layer)) {
      EXPECT_TRUE(std::isnan(mask[first]));
      continue;
    }
    int selected = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      for (auto byte = static_cast<unsigned>(mask[first + i]); byte != 0; byte >>= 1U) {
        selected += static_cast<int>(byte & 1U);
      }
    }
    EXPECT_EQ(selected, k);
  }
}

TEST(RoutingProbe, TheGradientOfTheScalarsIsADifferenceQuotient) {
  ModelOptions o = small_options("tdt");
  o.tdt.positive_scalars = false;  // the parameters act as they are
  const Built built(o, {5}, false, at::kDouble);
  const ProbeSet set = probe_set(o);
  const std::vector<double> norms = look(built, set).row("tdt_scalar_grad_norm");
  const auto held = std::make_shared<RoutingRecord>();
  held->teach = true;
  loss_of(*built.model, set, nullptr, held.get());
  constexpr double kStep = 1e-5;
  bool some = false;
  for (const std::int64_t layer : o.routing.layers) {
    double square = 0;
    for (const char* scalar : {"o_ce", "m_cu", "beta_ce", "beta_cu"}) {
      const at::NoGradGuard no_grad;
      const at::Tensor value =
          built.parameter("layers." + std::to_string(layer) + ".gate." + scalar);
      value.add_(kStep);
      const double above = loss_of(*built.model, set, held);
      value.sub_(2 * kStep);
      const double below = loss_of(*built.model, set, held);
      value.add_(kStep);
      square += std::pow((above - below) / (2 * kStep), 2);
    }
    const double norm = norms[static_cast<std::size_t>(layer)];
    EXPECT_NEAR(norm, std::sqrt(square), 1e-6 * std::max(1e-3, norm));
    some = some || norm > 1e-8;
  }
  EXPECT_TRUE(some) << "nothing was tested";
}

TEST(RoutingProbe, ADenseTrainingGivesTheScalarsNoGradient) {
  ModelOptions o = small_options("tdt");
  o.tdt.path = TrainPath::Dense;
  const Built built(o, {5});
  const std::vector<double> norms = look(built, probe_set(o)).row("tdt_scalar_grad_norm");
  for (const std::int64_t layer : o.routing.layers) {
    EXPECT_EQ(norms[static_cast<std::size_t>(layer)], 0);
  }
}

TEST(RoutingProbe, StatisticsAreOfTheStatesOfTraining) {
  ModelOptions o = small_options("tdt");
  ModelOptions dense = o;
  dense.tdt.path = TrainPath::Dense;
  const Built gated(o, {5}), plain(dense, {5});
  const ProbeSet set = probe_set(o);
  const auto surprise = [&](ExecutionMode mode) {
    const at::NoGradGuard no_grad;
    RoutingRecord record;
    record.teach = true;
    plain.model->states(set.windows.narrow(1, 0, kTokens).unsqueeze(0),
                        {.execution = Execution{.mode = mode}, .routing = &record});
    return record.layers.back().signals.d_st.to(at::kDouble).mean().item<double>();
  };
  const double every = surprise(ExecutionMode::Dense),
               chosen = surprise(ExecutionMode::TeacherTopk);
  ASSERT_GT(std::abs(every - chosen), 1e-4 * every);
  const auto last = static_cast<std::size_t>(o.routing.layers.back());
  EXPECT_NEAR(look(plain, set).row("tdt_d_st_mean")[last], every, 1e-6 * every);
  EXPECT_NEAR(look(gated, set).row("tdt_d_st_mean")[last], chosen, 1e-6 * chosen);
}

TEST(RoutingProbe, ACellHasTheSameBitsAloneAndFused) {
  for (const char* family : {"tdt", "mod"}) {
    const ModelOptions o = small_options(family, 3);
    const Built all(o, {1, 2, 3});
    const ProbeSet set = probe_set(o);
    const RecordedRows fused = look(all, set);
    for (std::size_t e = 0; e < 3; ++e) {
      ModelOptions one = small_options(family);
      one.routing.capacity = {o.routing.capacity[e]};
      const Built built(one, {all.seeds[e]});
      const RecordedRows alone = look(built, set);
      for (const SeriesSpec& series : alone.series) {
        const std::vector<double>& a = alone.row(series.name);
        const std::vector<double>& b = fused.row(series.name, e);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
              << family << ", " << series.name << ": " << a[i] << ", " << b[i];
        }
      }
    }
  }
}

TEST(RoutingProbe, RefusesMasksOfSequencesThatItDoesNotLookAt) {
  const ModelOptions o = small_options("tdt");
  const Built built(o, {5});
  const ProbeSet set = probe_set(o);  // 6
  EXPECT_EQ(look(*built.model, set, 6).row("routing_mask").size(),
            static_cast<std::size_t>(o.layers) * 6 * 3);
  EXPECT_THROW(look(*built.model, set, 7), Error);
}

TEST(RoutingProbe, LeavesNoGradientBehind) {
  const ModelOptions o = small_options("tdt");
  const Built built(o, {5});
  look(built, probe_set(o));
  EXPECT_EQ(built.arena->gradients().abs().max().item<double>(), 0);
}

TEST(RoutingProbe, ACellThatIsNotFiniteLeavesItsNeighboursAlone) {
  const ModelOptions o = small_options("tdt", 2);
  const Built built(o, {1, 2});
  const ProbeSet set = probe_set(o);
  const std::vector<double> before = look(built, set).row("tdt_g_mean", 1);
  {
    const at::NoGradGuard no_grad;
    built.arena->values()[0].fill_(NAN);
  }
  const std::vector<double> after = look(built, set).row("tdt_g_mean", 1);
  for (const std::int64_t layer : o.routing.layers) {
    const auto l = static_cast<std::size_t>(layer);
    EXPECT_EQ(before[l], after[l]);
  }
}

}  // namespace routing_probe_test
}  // namespace depthgrid::testing
