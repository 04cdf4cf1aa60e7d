// What of a layer that skips tokens is not defined is NaN, whatever layer it is: never 0, infinite
// or huge.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/nan.hpp"
#include "models/routing/routing_statistics.hpp"
#include "models/routing/top_k.hpp"
#include "models/routing_probe.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/small_options.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace undefined_statistics_test {

constexpr std::int64_t kCells = 2, kSequences = 3, kWidth = 5;
constexpr std::int64_t kTokens = 12;

using Names = std::set<std::string>;

/// A layer of which everything is defined: half of the tokens are selected, and the router decides
/// for some.
LayerRouting ordinary_layer(std::int64_t tokens) {
  const auto draw = [&] { return at::randn({kCells, kSequences, tokens}); };
  LayerRouting r;
  r.layer = 1;
  r.logits = draw();
  r.logits.select(1, 0).select(-1, 0).fill_(1);
  r.logits.select(1, 1).select(-1, 0).fill_(-1);
  r.score = draw().to(at::kDouble);
  r.target = top_k_mask(r.score, std::vector<std::int64_t>(kCells, tokens / 2));
  r.executed = r.logits.gt(0);
  r.residual = at::randn({kCells, kSequences, tokens, kWidth});
  r.predicted = at::randn({kCells, kSequences, tokens, kWidth});
  const auto scalar = [](double value) { return at::full({kCells, 1}, value); };
  r.scalars = {scalar(1.025), scalar(1.1), scalar(-0.3), scalar(-0.6)};
  r.signals = surprise_gate(r.residual, r.predicted, r.scalars, {.window = 4});
  r.execution_gate = r.logits.sigmoid();
  return r;
}

/// The same with another residual or prediction.
void predict(LayerRouting& r, const at::Tensor& residual, const at::Tensor& predicted) {
  r.residual = residual;
  r.predicted = predicted;
  r.signals = surprise_gate(residual, predicted, r.scalars, {.window = 4});
}

/// A kind of layer, and the statistics that it does not have. `*` stands for both kinds of states.
struct Degenerate {
  std::string name;
  std::function<void(LayerRouting&)> make;
  Names undefined;
  std::int64_t tokens = kTokens;
};

const Names kOfTheRouter = {"router_bce*",         "router_bce_relative*",
                            "router_accuracy*",    "router_precision*",
                            "router_recall*",      "router_f1*",
                            "router_auc*",         "router_ece*",
                            "router_reliability*", "router_probability_mean*",
                            "router_topk_recall*", "mod_predictor_accuracy*",
                            "mod_predictor_auc*"};

Names with(Names names, const Names& more) {
  names.insert(more.begin(), more.end());
  return names;
}

/// Without a choice there is no area under a curve, and no entropy of its rate.
const Names kNoChoice = {"router_bce_relative*", "router_auc*", "mod_predictor_auc*"};
const Names kNoneSelected = {"router_recall*",   "router_topk_recall*",   "tdt_overlap_s_ce",
                             "tdt_overlap_s_cu", "tdt_overlap_d_st",      "tdt_ce_share",
                             "tdt_ce_dominant",  "mod_router_weight_mean"};

const std::vector<Degenerate>& kinds() {
  static const std::vector<Degenerate> kAll = {
      {"ordinary", [](LayerRouting&) {}, {}},
      {"all_selected", [](LayerRouting& r) { r.target = at::ones_like(r.target); },
       with(kNoChoice, {"tdt_score_gap"})},
      {"none_selected", [](LayerRouting& r) { r.target = at::zeros_like(r.target); },
       with(with(kNoChoice, kNoneSelected), {"tdt_score_gap", "tdt_ties"})},
      {"only_the_first_which_always_is",
       [](LayerRouting& r) {
         r.first = true;
         r.target = at::zeros_like(r.target);
         r.target.select(-1, 0).fill_(true);
       },
       {"tdt_score_gap", "tdt_ties"}},
      {"all_but_the_first_which_always_is",
       [](LayerRouting& r) {
         r.first = true;
         r.target = at::ones_like(r.target);
       },
       with(kNoChoice, {"tdt_score_gap"})},
      {"router_decides_for_none",
       [](LayerRouting& r) { r.logits = -r.logits.abs() - 1; },
       {"router_precision*"}},
      {"router_decides_for_all", [](LayerRouting& r) { r.logits = r.logits.abs() + 1; }, {}},
      {"router_is_constant", [](LayerRouting& r) { r.logits = at::full_like(r.logits, .5); }, {}},
      {"router_is_not_finite", [](LayerRouting& r) { r.logits = at::full_like(r.logits, kNaN); },
       kOfTheRouter},
      {"states_do_not_change",
       [](LayerRouting& r) { predict(r, at::zeros_like(r.residual), r.predicted); },
       {"tpn_skill", "tpn_cosine"}},
      {"change_is_predicted_as_nothing",
       [](LayerRouting& r) { predict(r, r.residual, at::zeros_like(r.predicted)); },
       {"tpn_cosine"}},
      {"scores_are_equal", [](LayerRouting& r) { r.score = at::full_like(r.score, .25); }, {}},
      {"one_token", [](LayerRouting& r) { r.target = at::ones_like(r.target); },
       with(kNoChoice, {"tdt_score_gap"}), 1},
      {"one_token_which_always_is",
       [](LayerRouting& r) {
         r.first = true;
         r.target = at::ones_like(r.target);
       },
       with(kNoChoice, {"tdt_score_gap", "tdt_ties"}), 1},
      {"states_are_not_finite",
       [](LayerRouting& r) {
         const at::Tensor nan = at::full_like(r.residual, kNaN);
         predict(r, nan, nan);
       },
       {"tdt_d_st_mean",       "tdt_d_st_std",     "tdt_d_st_p50",     "tdt_d_st_p99",
        "tdt_d_st_max",        "tdt_d_ch_mean",    "tdt_d_ch_std",     "tdt_ma_mean",
        "tdt_predicted_share", "tdt_ce_mean",      "tdt_cu_mean",      "tdt_ce_positive",
        "tdt_cu_positive",     "tdt_s_ce_mean",    "tdt_s_ce_std",     "tdt_s_ce_min",
        "tdt_s_ce_max",        "tdt_s_cu_mean",    "tdt_s_cu_std",     "tdt_s_cu_min",
        "tdt_s_cu_max",        "tdt_g_mean",       "tdt_g_std",        "tdt_g_min",
        "tdt_g_max",           "tdt_g_histogram",  "tdt_ce_share",     "tdt_ce_dominant",
        "tdt_overlap_s_ce",    "tdt_overlap_s_cu", "tdt_overlap_d_st", "tpn_mse",
        "tpn_mse_constant",    "tpn_mse_previous", "tpn_skill",        "tpn_cosine"}},
  };
  return kAll;
}

bool names(const Names& all, const std::string& one) {
  constexpr std::string_view kStudent = "_student";
  const bool student = one.ends_with(kStudent);
  const std::string stem = student ? one.substr(0, one.size() - kStudent.size()) : one;
  return all.contains(one) || all.contains(stem + "*");
}

/// Numbers by bins have NaN for those without tokens.
bool by_bin(const std::string& name) {
  return name.starts_with("router_reliability") || name.ends_with("_position");
}

class UndefinedStatistics : public ::testing::TestWithParam<const char*> {};

TEST_P(UndefinedStatistics, AreNaNAndAllOthersAreNumbers) {
  ModelOptions o = small_options(GetParam(), kCells);
  for (const Degenerate& kind : kinds()) {
    SCOPED_TRACE(kind.name);
    RoutingRecord record;
    record.layers.push_back(ordinary_layer(kind.tokens));
    kind.make(record.layers.front());
    for (const RoutingStatistic& s : routing_statistics(o, record, record)) {
      const std::string name(s.name);
      const auto width = static_cast<std::size_t>(s.width);
      for (std::size_t e = 0; e < kCells; ++e) {
        const std::size_t first = (e * static_cast<std::size_t>(o.layers) + 1) * width;
        std::size_t numbers = 0;
        for (std::size_t i = first; i < first + width; ++i) {
          if (std::isnan(s.values[i])) continue;
          ++numbers;
          EXPECT_LT(std::abs(s.values[i]), 1e3) << name;
        }
        if (names(kind.undefined, name)) {
          EXPECT_EQ(numbers, 0U) << name << " of cell " << e << " is not defined";
        } else if (by_bin(name)) {
          EXPECT_GT(numbers, 0U) << name << " of cell " << e;
        } else {
          EXPECT_EQ(numbers, width) << name << " of cell " << e << " is defined";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, UndefinedStatistics, ::testing::Values("tdt", "mod"));

TEST(RoutingStatistics, ARouterThatRanksNothingHasHalfTheArea) {
  RoutingRecord record;
  record.layers.push_back(ordinary_layer(kTokens));
  record.layers.front().logits.fill_(.5);

  for (const RoutingStatistic& s :
       routing_statistics(small_options("tdt", kCells), record, record)) {
    if (s.name != "router_auc") continue;
    EXPECT_EQ(s.values[1], .5);
  }
}

// A capacity of 1 selects all tokens, one below 1/T none: as the probe of a whole model writes
// them.
TEST(RoutingStatistics, OfCapacitiesAtEitherEndAreNumbersOrNaN) {
  ModelOptions o = small_options("tdt", 3);
  o.routing.capacity = {1, 0.01, 0.5};
  const Built built(o, {1, 2, 3});
  ProbeSet set;
  set.windows = at::randint(0, o.vocabulary, {4, kTokens + 1}, at::kLong);
  RecordedRows rows;
  RoutingProbe probe(*built.model, set, {.schedule = {}, .masks = 1, .batch = 4});
  probe.declare(rows);
  probe.measure(0, rows);

  for (const SeriesSpec& series : rows.series) {
    for (std::size_t e = 0; e < 3; ++e) {
      for (const double number : rows.row(series.name, e)) {
        EXPECT_FALSE(std::abs(number) > 1e7) << series.name << " of cell " << e;  // bytes are many
      }
    }
  }
  const auto layer = static_cast<std::size_t>(o.routing.layers.front());
  for (const char* name : {"router_bce_relative", "router_bce_relative_student", "tdt_score_gap"}) {
    EXPECT_TRUE(std::isnan(rows.row(name, 0)[layer])) << name << " where all are selected";
    EXPECT_TRUE(std::isnan(rows.row(name, 1)[layer])) << name << " where none is";
    EXPECT_FALSE(std::isnan(rows.row(name, 2)[layer])) << name;
  }
}

// A token without a direction has no cosine; the others have.
TEST(RoutingStatistics, TokensWithoutADirectionAreNotInTheMeanOfCosines) {
  RoutingRecord record;
  record.layers.push_back(ordinary_layer(kTokens));
  LayerRouting& r = record.layers.front();
  const at::Tensor predicted = r.residual * 2;
  predicted.select(2, 0).zero_();
  predict(r, r.residual, predicted);

  for (const RoutingStatistic& s :
       routing_statistics(small_options("tdt", kCells), record, record)) {
    if (s.name != "tpn_cosine") continue;
    EXPECT_NEAR(s.values[1], 1, 1e-6);
  }
}

}  // namespace undefined_statistics_test
}  // namespace depthgrid::testing
