#include "models/routing/routing_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"
#include "models/blocks/activation.hpp"
#include "models/ops/softplus.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {
namespace {

/// (E, N) float64 from a tensor with one number per token.
at::Tensor flat(const at::Tensor& x) {
  return x.flatten(1).to(at::kDouble);
}

at::Tensor quantile(const at::Tensor& x, double q) {
  // All four arguments: with three, the flag would be read as the dimension.
  const at::Tensor sorted =
      std::get<0>(at::sort(flat(x), /*stable=*/true, 1, /*descending=*/false));
  const auto last = static_cast<double>(sorted.size(1) - 1);
  return sorted.select(1, static_cast<std::int64_t>(q * last));
}

at::Tensor share(const at::Tensor& mask) {
  return flat(mask).mean(1);
}

/// (E) 0, or NaN for a cell of which a number is not finite: comparisons with these would count.
at::Tensor unless_finite(const at::Tensor& x) {
  return (flat(x) * 0).sum(1);
}

/// A denominator: what is divided by 0 is undefined.
at::Tensor not_zero(const at::Tensor& x) {
  return x.masked_fill(x.eq(0), kNaN);
}

/// (E) mean of those of (E, n) that are defined; NaN if none is.
at::Tensor mean_of_defined(const at::Tensor& x) {
  const at::Tensor undefined = x.isnan();
  const at::Tensor count = undefined.logical_not().to(at::kDouble).sum(1);
  return x.masked_fill(undefined, 0).sum(1) / not_zero(count);
}

/// Fraction of the tokens in `among` that are in `of`, too.
at::Tensor share_of(const at::Tensor& of, const at::Tensor& among) {
  return flat(of.logical_and(among)).sum(1) / flat(among).sum(1);
}

/// Area under the ROC curve: probability that an executed token's logit exceeds a skipped one's.
/// 1/2 for logits that are all equal; NaN where all tokens are executed, or none.
at::Tensor area(const LayerRouting& r) {
  const at::Tensor order =
      std::get<1>(at::sort(flat(r.logits), /*stable=*/true, 1, /*descending=*/false));
  const at::Tensor rank = at::empty_like(order).scatter_(
      1, order, at::arange(1, order.size(1) + 1, order.options()).expand(order.sizes()));
  const at::Tensor yes = flat(r.target);
  const at::Tensor n = yes.sum(1), rest = (1 - yes).sum(1), pairs = not_zero(n * rest);
  const at::Tensor above = (rank.to(at::kDouble) * yes).sum(1) - n * (n + 1) / 2;
  const at::Tensor logits = flat(r.logits);
  const at::Tensor constant = logits.amax(1).eq(logits.amin(1));
  return at::where(constant, pairs / 2, above) / pairs + unless_finite(r.logits);
}

at::Tensor decided(const LayerRouting& r) {
  return r.logits.gt(0);
}

at::Tensor accuracy(const LayerRouting& r) {
  return share(decided(r).eq(r.target)) + unless_finite(r.logits);
}

at::Tensor precision(const LayerRouting& r) {
  return share_of(r.target, decided(r)) + unless_finite(r.logits);
}

at::Tensor recall(const LayerRouting& r) {
  return share_of(decided(r), r.target) + unless_finite(r.logits);
}

at::Tensor cross_entropy(const LayerRouting& r) {
  return (softplus(flat(r.logits)) - flat(r.logits) * flat(r.target)).mean(1);
}

/// Entropy of the teacher's selection rate; NaN where it selects all tokens, or none.
at::Tensor base_entropy(const LayerRouting& r) {
  const at::Tensor n = flat(r.target).sum(1), rest = flat(r.target.logical_not()).sum(1);
  const at::Tensor p = n / (n + rest);
  return -(p * p.log() + (1 - p) * (1 - p).log()).masked_fill((n * rest).eq(0), kNaN);
}

at::Tensor relative_entropy(const LayerRouting& r) {
  return cross_entropy(r) / base_entropy(r);
}

/// F1: of precision and recall.
at::Tensor harmonic_mean(const LayerRouting& r) {
  const at::Tensor both = flat(decided(r).logical_and(r.target)).sum(1);
  return 2 * both / (flat(decided(r)).sum(1) + flat(r.target).sum(1)) + unless_finite(r.logits);
}

at::Tensor probability(const LayerRouting& r) {
  return logistic(flat(r.logits)).mean(1);
}

/// Expected calibration error of predicted against observed rates, over ten bins of the prediction.
at::Tensor calibration_error(const LayerRouting& r) {
  const at::Tensor p = logistic(flat(r.logits)), yes = flat(r.target);
  at::Tensor sum = p.select(1, 0) * 0;
  for (int bin = 0; bin < 10; ++bin) {
    const at::Tensor in = (p * 10).floor().clamp_max(9).eq(bin).to(at::kDouble);
    sum = sum + ((p - yes) * in).sum(1).abs();
  }
  return sum / static_cast<double>(p.size(1)) + unless_finite(r.logits);
}

/// Fraction of the teacher's tokens selected by a TopK of the same size on another score.
at::Tensor overlap(const LayerRouting& r, const at::Tensor& score) {
  const at::Tensor counts = r.target.select(1, 0).sum(-1).to(at::kCPU);
  const std::int64_t* k = counts.const_data_ptr<std::int64_t>();
  return share_of(top_k_mask(score, {k, k + counts.numel()}), r.target) + unless_finite(score);
}

at::Tensor top_k_recall(const LayerRouting& r) {
  return overlap(r, r.logits);
}

/// (E, B, 1) the lowest score that is selected for its rank; NaN where none is.
at::Tensor lowest_selected(const LayerRouting& r) {
  const double far = std::numeric_limits<double>::infinity();
  at::Tensor in = r.score.to(at::kDouble).masked_fill(r.target.logical_not(), far);
  if (r.first) in.select(-1, 0).fill_(far);
  const at::Tensor lowest = in.amin(-1, /*keepdim=*/true);
  return lowest.masked_fill(lowest.eq(far), kNaN);
}

/// Score of rank k minus that of rank k + 1, averaged over the sequences that have both.
at::Tensor score_gap(const LayerRouting& r) {
  const double far = std::numeric_limits<double>::infinity();
  const at::Tensor high = r.score.to(at::kDouble).masked_fill(r.target, -far).amax(-1);
  return mean_of_defined(lowest_selected(r).squeeze(-1) - high.masked_fill(high.eq(-far), kNaN)) +
         unless_finite(r.score);
}

/// Share of expected events in softplus(a) + softplus(b), over selected tokens.
at::Tensor expected_share(const LayerRouting& r) {
  const at::Tensor a = -(1 - flat(r.signals.s_ce)).clamp_min(1e-12).log();
  const at::Tensor b = -(1 - flat(r.signals.s_cu)).clamp_min(1e-12).log();
  const at::Tensor in = flat(r.target);
  return (a * in).sum(1) / ((a + b) * in).sum(1);
}

at::Tensor constant_error(const LayerRouting& r) {
  const at::Tensor x = r.residual.to(at::kDouble);
  return (x - x.mean({1, 2}, true)).pow(2).mean({1, 2, 3});
}

at::Tensor previous_error(const LayerRouting& r) {
  return flat(mean_square(r.residual - previous_tokens(r.residual))).mean(1);
}

at::Tensor cosine(const LayerRouting& r) {
  const at::Tensor a = r.residual.to(at::kDouble), b = r.predicted.to(at::kDouble);
  const at::Tensor size = (a.pow(2).sum(-1) * b.pow(2).sum(-1)).sqrt();
  return mean_of_defined(flat((a * b).sum(-1) / not_zero(size))) + unless_finite(size);
}

/// Tokens that are as good as the worst selected one, but come later in their sequence; NaN where
/// none is selected.
at::Tensor ties(const LayerRouting& r) {
  const at::Tensor lowest = lowest_selected(r);
  const at::Tensor as_good = r.score.to(at::kDouble).eq(lowest);
  const at::Tensor count = flat(as_good.logical_and(r.target.logical_not())).sum(1);
  return count.masked_fill(lowest.isnan().flatten(1).all(1), kNaN) + unless_finite(r.score);
}

/// (E, bins) share of the numbers, all in [0, 1], in each of equal bins; 1 is in the last.
at::Tensor shares_by_bin(const at::Tensor& x, std::int64_t bins) {
  const at::Tensor bin = (flat(x) * static_cast<double>(bins)).floor().clamp_max(bins - 1);
  std::vector<at::Tensor> out;
  for (std::int64_t i = 0; i < bins; ++i) out.push_back(share(bin.eq(i)));
  return at::stack(out, 1) + 0 * bin.mean(1, /*keepdim=*/true);  // NaN is in no bin
}

/// (E, bins) observed rate of selection by bin of the predicted probability; NaN for none.
at::Tensor reliability(const LayerRouting& r) {
  const at::Tensor bin = (logistic(flat(r.logits)) * static_cast<double>(kReliabilityBins))
                             .floor()
                             .clamp_max(kReliabilityBins - 1);
  const at::Tensor target = r.target.flatten(1);
  std::vector<at::Tensor> out;
  for (std::int64_t i = 0; i < kReliabilityBins; ++i) out.push_back(share_of(target, bin.eq(i)));
  return at::stack(out, 1) + unless_finite(r.logits).unsqueeze(1);
}

/// (E, deciles) share of the tokens of each tenth of the positions that are in the mask. Token t of
/// T is in tenth 10 t/T; NaN for a tenth without tokens.
at::Tensor share_by_position(const at::Tensor& mask) {
  const std::int64_t tokens = mask.size(2);
  std::vector<at::Tensor> out;
  for (std::int64_t i = 0; i < kPositionDeciles; ++i) {
    const std::int64_t first = (i * tokens + kPositionDeciles - 1) / kPositionDeciles;
    const std::int64_t last = ((i + 1) * tokens + kPositionDeciles - 1) / kPositionDeciles;
    out.push_back(share(mask.narrow(2, first, last - first)));
  }
  return at::stack(out, 1);
}

struct Row {
  std::string_view name;
  at::Tensor (*of)(const LayerRouting&);  // (E), or (E, width)
  bool on_student_states = false;
  std::int64_t width = 1;
};

template <at::Tensor GateSignals::* Part>
at::Tensor mean_of(const LayerRouting& r) {
  return flat(r.signals.*Part).mean(1);
}

/// Standard deviation. at::std would sum a cell's numbers in an order that depends on how many
/// cells there are: a fused cell would differ from the same cell alone.
template <at::Tensor GateSignals::* Part>
at::Tensor spread_of(const LayerRouting& r) {
  const at::Tensor x = flat(r.signals.*Part);
  return (x - x.mean(1, /*keepdim=*/true)).pow(2).mean(1).sqrt();
}

template <at::Tensor GateSignals::* Part>
at::Tensor share_above_zero(const LayerRouting& r) {
  return share((r.signals.*Part).gt(0)) + unless_finite(r.signals.*Part);
}

template <at::Tensor GateSignals::* Part>
at::Tensor lowest_of(const LayerRouting& r) {
  return flat(r.signals.*Part).amin(1);
}

template <at::Tensor GateSignals::* Part>
at::Tensor highest_of(const LayerRouting& r) {
  return flat(r.signals.*Part).amax(1);
}

constexpr auto kByPosition = [](const LayerRouting& r) { return share_by_position(r.target); };
constexpr auto kExecutedByPosition = [](const LayerRouting& r) {
  return share_by_position(r.executed);
};
constexpr auto kCapacity = [](const LayerRouting& r) { return share(r.target); };

constexpr Row kTdtRows[] = {
    {"tdt_d_st_mean", mean_of<&GateSignals::d_st>},
    {"tdt_d_st_std", spread_of<&GateSignals::d_st>},
    {"tdt_d_st_p50", [](const LayerRouting& r) { return quantile(r.signals.d_st, 0.5); }},
    {"tdt_d_st_p99", [](const LayerRouting& r) { return quantile(r.signals.d_st, 0.99); }},
    {"tdt_d_st_max", highest_of<&GateSignals::d_st>},
    {"tdt_d_ch_mean", mean_of<&GateSignals::d_ch>},
    {"tdt_d_ch_std", spread_of<&GateSignals::d_ch>},
    {"tdt_ma_mean", mean_of<&GateSignals::ma>},
    {"tdt_predicted_share",
     [](const LayerRouting& r) {
       return share(r.signals.d_ch.lt(r.signals.d_st)) + unless_finite(r.signals.d_ch) +
              unless_finite(r.signals.d_st);
     }},
    {"tdt_ce_mean", mean_of<&GateSignals::ce>},
    {"tdt_cu_mean", mean_of<&GateSignals::cu>},
    {"tdt_ce_positive", share_above_zero<&GateSignals::ce>},
    {"tdt_cu_positive", share_above_zero<&GateSignals::cu>},
    {"tdt_s_ce_mean", mean_of<&GateSignals::s_ce>},
    {"tdt_s_ce_std", spread_of<&GateSignals::s_ce>},
    {"tdt_s_ce_min", lowest_of<&GateSignals::s_ce>},
    {"tdt_s_ce_max", highest_of<&GateSignals::s_ce>},
    {"tdt_s_cu_mean", mean_of<&GateSignals::s_cu>},
    {"tdt_s_cu_std", spread_of<&GateSignals::s_cu>},
    {"tdt_s_cu_min", lowest_of<&GateSignals::s_cu>},
    {"tdt_s_cu_max", highest_of<&GateSignals::s_cu>},
    {"tdt_g_mean", mean_of<&GateSignals::gate>},
    {"tdt_g_std", spread_of<&GateSignals::gate>},
    {"tdt_g_min", lowest_of<&GateSignals::gate>},
    {"tdt_g_max", highest_of<&GateSignals::gate>},
    {"tdt_g_histogram",
     [](const LayerRouting& r) { return shares_by_bin(r.signals.gate, kGateBins); }, false,
     kGateBins},
    {"tdt_ce_share", expected_share},
    {"tdt_ce_dominant",
     [](const LayerRouting& r) {
       return share_of(r.signals.s_ce.gt(r.signals.s_cu), r.target) +
              unless_finite(r.signals.s_ce) + unless_finite(r.signals.s_cu);
     }},
    {"tdt_overlap_s_ce", [](const LayerRouting& r) { return overlap(r, r.signals.s_ce); }},
    {"tdt_overlap_s_cu", [](const LayerRouting& r) { return overlap(r, r.signals.s_cu); }},
    {"tdt_overlap_d_st", [](const LayerRouting& r) { return overlap(r, r.signals.d_st); }},
    {"tdt_ties", ties},
    {"tdt_score_gap", score_gap},
    {"tdt_o_ce", [](const LayerRouting& r) { return flat(r.scalars.o_ce).select(1, 0); }},
    {"tdt_m_cu", [](const LayerRouting& r) { return flat(r.scalars.m_cu).select(1, 0); }},
    {"tdt_beta_ce",
     [](const LayerRouting& r) { return softplus(flat(r.scalars.beta_ce)).select(1, 0); }},
    {"tdt_beta_cu",
     [](const LayerRouting& r) { return softplus(flat(r.scalars.beta_cu)).select(1, 0); }},
    {"tpn_mse", mean_of<&GateSignals::d_ch>},
    {"tpn_mse_constant", constant_error},
    {"tpn_mse_previous", previous_error},
    {"tpn_skill",
     [](const LayerRouting& r) {
       return 1 - flat(r.signals.d_ch).mean(1) / not_zero(flat(r.signals.d_st).mean(1));
     }},
    {"tpn_cosine", cosine},
    {"router_bce", cross_entropy},
    {"router_bce_student", cross_entropy, true},
    {"router_bce_relative", relative_entropy},
    {"router_bce_relative_student", relative_entropy, true},
    {"router_accuracy", accuracy},
    {"router_accuracy_student", accuracy, true},
    {"router_precision", precision},
    {"router_precision_student", precision, true},
    {"router_recall", recall},
    {"router_recall_student", recall, true},
    {"router_f1", harmonic_mean},
    {"router_f1_student", harmonic_mean, true},
    {"router_auc", area},
    {"router_auc_student", area, true},
    {"router_ece", calibration_error},
    {"router_ece_student", calibration_error, true},
    {"router_reliability", reliability, false, kReliabilityBins},
    {"router_reliability_student", reliability, true, kReliabilityBins},
    {"router_probability_mean", probability},
    {"router_probability_mean_student", probability, true},
    {"router_topk_recall", top_k_recall},
    {"router_topk_recall_student", top_k_recall, true},
    {"routing_capacity", kCapacity},
    {"routing_capacity_position", kByPosition, false, kPositionDeciles},
    {"routing_rate_position", kExecutedByPosition, true, kPositionDeciles},
};

constexpr Row kModRows[] = {
    {"mod_router_weight_mean",
     [](const LayerRouting& r) {
       const at::Tensor in = flat(r.target);
       return (flat(r.execution_gate) * in).sum(1) / in.sum(1);
     }},
    {"mod_predictor_accuracy", accuracy},
    {"mod_predictor_accuracy_student", accuracy, true},
    {"mod_predictor_auc", area},
    {"mod_predictor_auc_student", area, true},
    {"routing_capacity", kCapacity},
    {"routing_capacity_position", kByPosition, false, kPositionDeciles},
    {"routing_rate_position", kExecutedByPosition, true, kPositionDeciles},
};

std::span<const Row> rows_of(const ModelOptions& o) {
  if (o.facts().teaches) return kTdtRows;
  if (o.facts().predicts) return kModRows;
  return {};
}

}  // namespace

std::vector<RoutingStatistic> routing_statistic_rows(const ModelOptions& o) {
  std::vector<RoutingStatistic> out;
  for (const Row& row : rows_of(o)) out.push_back({row.name, {}, row.width});
  return out;
}

std::vector<RoutingStatistic> routing_statistics(const ModelOptions& o,
                                                 const RoutingRecord& teacher,
                                                 const RoutingRecord& student) {
  std::vector<RoutingStatistic> out = routing_statistic_rows(o);
  const auto layers = static_cast<std::size_t>(o.layers);
  auto row = rows_of(o).begin();
  for (RoutingStatistic& s : out) {
    const auto width = static_cast<std::size_t>(s.width);
    s.values.assign(static_cast<std::size_t>(o.cells) * layers * width, kNaN);
    for (const LayerRouting& layer : (row->on_student_states ? student : teacher).layers) {
      const at::Tensor cells = row->of(layer).to(at::kCPU, at::kDouble).contiguous();
      const double* from = cells.const_data_ptr<double>();
      for (std::size_t e = 0; e < static_cast<std::size_t>(o.cells); ++e, from += width) {
        const std::size_t at = (e * layers + static_cast<std::size_t>(layer.layer)) * width;
        std::copy_n(from, width, s.values.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    ++row;
  }
  return out;
}

}  // namespace depthgrid
