#include "models/routing/routing_statistics.hpp"

#include <cmath>
#include <limits>
#include <span>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sort.h>

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

/// Fraction of the tokens in `among` that are in `of`, too.
at::Tensor share_of(const at::Tensor& of, const at::Tensor& among) {
  return flat(of.logical_and(among)).sum(1) / flat(among).sum(1);
}

/// Area under the ROC curve: probability that an executed token's logit exceeds a skipped one's.
at::Tensor area(const LayerRouting& r) {
  const at::Tensor order =
      std::get<1>(at::sort(flat(r.logits), /*stable=*/true, 1, /*descending=*/false));
  const at::Tensor rank = at::empty_like(order).scatter_(
      1, order, at::arange(1, order.size(1) + 1, order.options()).expand(order.sizes()));
  const at::Tensor yes = flat(r.target);
  const at::Tensor n = yes.sum(1), rest = (1 - yes).sum(1);
  return ((rank.to(at::kDouble) * yes).sum(1) - n * (n + 1) / 2) / (n * rest);
}

at::Tensor decided(const LayerRouting& r) {
  return r.logits.gt(0);
}

at::Tensor accuracy(const LayerRouting& r) {
  return share(decided(r).eq(r.target));
}

at::Tensor precision(const LayerRouting& r) {
  return share_of(r.target, decided(r));
}

at::Tensor recall(const LayerRouting& r) {
  return share_of(decided(r), r.target);
}

at::Tensor cross_entropy(const LayerRouting& r) {
  return (softplus(flat(r.logits)) - flat(r.logits) * flat(r.target)).mean(1);
}

/// Entropy of the teacher's selection rate.
at::Tensor base_entropy(const LayerRouting& r) {
  const at::Tensor p = share(r.target).clamp(1e-12, 1 - 1e-12);
  return -(p * p.log() + (1 - p) * (1 - p).log());
}

/// Expected calibration error of predicted against observed rates, over ten bins of the prediction.
at::Tensor calibration_error(const LayerRouting& r) {
  const at::Tensor p = logistic(flat(r.logits)), yes = flat(r.target);
  at::Tensor sum = p.select(1, 0) * 0;
  for (int bin = 0; bin < 10; ++bin) {
    const at::Tensor in = (p * 10).floor().clamp_max(9).eq(bin).to(at::kDouble);
    sum = sum + ((p - yes) * in).sum(1).abs();
  }
  return sum / static_cast<double>(p.size(1));
}

/// Fraction of the teacher's tokens selected by a TopK of the same size on another score.
at::Tensor overlap(const LayerRouting& r, const at::Tensor& score) {
  const at::Tensor counts = r.target.select(1, 0).sum(-1).to(at::kCPU);
  const std::int64_t* k = counts.const_data_ptr<std::int64_t>();
  return share_of(top_k_mask(score, {k, k + counts.numel()}), r.target);
}

/// Score of rank k minus that of rank k + 1, averaged over sequences.
at::Tensor score_gap(const LayerRouting& r) {
  const at::Tensor in = r.score.to(at::kDouble);
  const double far = std::numeric_limits<double>::infinity();
  const at::Tensor low = in.masked_fill(r.target.logical_not(), far).amin(-1);
  const at::Tensor high = in.masked_fill(r.target, -far).amax(-1);
  return (low - high).mean(1);
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
  const at::Tensor size = (a.pow(2).sum(-1) * b.pow(2).sum(-1)).sqrt().clamp_min(1e-30);
  return flat((a * b).sum(-1) / size).mean(1);
}

struct Row {
  std::string_view name;
  at::Tensor (*of)(const LayerRouting&);  // (E)
  bool on_student_states = false;
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
at::Tensor lowest_of(const LayerRouting& r) {
  return flat(r.signals.*Part).amin(1);
}

template <at::Tensor GateSignals::* Part>
at::Tensor highest_of(const LayerRouting& r) {
  return flat(r.signals.*Part).amax(1);
}

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
     [](const LayerRouting& r) { return share(r.signals.d_ch.lt(r.signals.d_st)); }},
    {"tdt_ce_mean", mean_of<&GateSignals::ce>},
    {"tdt_cu_mean", mean_of<&GateSignals::cu>},
    {"tdt_ce_positive", [](const LayerRouting& r) { return share(r.signals.ce.gt(0)); }},
    {"tdt_cu_positive", [](const LayerRouting& r) { return share(r.signals.cu.gt(0)); }},
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
    {"tdt_ce_share", expected_share},
    {"tdt_ce_dominant",
     [](const LayerRouting& r) { return share_of(r.signals.s_ce.gt(r.signals.s_cu), r.target); }},
    {"tdt_overlap_s_ce", [](const LayerRouting& r) { return overlap(r, r.signals.s_ce); }},
    {"tdt_overlap_s_cu", [](const LayerRouting& r) { return overlap(r, r.signals.s_cu); }},
    {"tdt_overlap_d_st", [](const LayerRouting& r) { return overlap(r, r.signals.d_st); }},
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
       return 1 - flat(r.signals.d_ch).mean(1) / flat(r.signals.d_st).mean(1);
     }},
    {"tpn_cosine", cosine},
    {"router_bce", cross_entropy},
    {"router_bce_relative",
     [](const LayerRouting& r) { return cross_entropy(r) / base_entropy(r); }},
    {"router_accuracy", accuracy},
    {"router_accuracy_student", accuracy, true},
    {"router_precision", precision},
    {"router_recall", recall},
    {"router_f1",
     [](const LayerRouting& r) {
       const at::Tensor both = flat(decided(r).logical_and(r.target)).sum(1);
       return 2 * both / (flat(decided(r)).sum(1) + flat(r.target).sum(1));
     }},
    {"router_auc", area},
    {"router_auc_student", area, true},
    {"router_ece", calibration_error},
    {"router_probability_mean",
     [](const LayerRouting& r) { return logistic(flat(r.logits)).mean(1); }},
    {"router_topk_recall", [](const LayerRouting& r) { return overlap(r, r.logits); }},
    {"routing_capacity", kCapacity},
};

constexpr Row kModRows[] = {
    {"mod_router_weight_mean",
     [](const LayerRouting& r) {
       const at::Tensor in = flat(r.target);
       return (flat(r.execution_gate) * in).sum(1) / in.sum(1);
     }},
    {"mod_predictor_accuracy", accuracy},
    {"mod_predictor_auc", area},
    {"routing_capacity", kCapacity},
};

std::span<const Row> rows_of(const ModelOptions& o) {
  if (o.facts().teaches) return kTdtRows;
  if (o.facts().predicts) return kModRows;
  return {};
}

}  // namespace

std::vector<std::string_view> routing_statistic_names(const ModelOptions& o) {
  std::vector<std::string_view> names;
  for (const Row& row : rows_of(o)) names.push_back(row.name);
  return names;
}

std::vector<RoutingStatistic> routing_statistics(const ModelOptions& o,
                                                 const RoutingRecord& teacher,
                                                 const RoutingRecord& student) {
  std::vector<RoutingStatistic> out;
  const auto layers = static_cast<std::size_t>(o.layers);
  for (const Row& row : rows_of(o)) {
    RoutingStatistic& s = out.emplace_back();
    s.name = row.name;
    s.values.assign(static_cast<std::size_t>(o.cells) * layers, kNaN);
    for (const LayerRouting& layer : (row.on_student_states ? student : teacher).layers) {
      const at::Tensor cells = row.of(layer).to(at::kCPU, at::kDouble).contiguous();
      const double* from = cells.const_data_ptr<double>();
      for (std::size_t e = 0; e < static_cast<std::size_t>(o.cells); ++e) {
        s.values[e * layers + static_cast<std::size_t>(layer.layer)] = from[e];
      }
    }
  }
  return out;
}

}  // namespace depthgrid
