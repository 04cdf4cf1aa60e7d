#include "models/routing_probe.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/routing/execution_masks.hpp"
#include "models/routing/routing_statistics.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kMostSequences = 16;
constexpr std::int64_t kGradientSequences = 8;  // a gradient costs three passes
constexpr std::int64_t kBitsPerByte = 8;

/// Students by thresholds of their own are among what the family offers.
bool calibrates(const Model& model) {
  return std::ranges::any_of(model.family().modes(), [](const DeclaredMode& mode) {
    return mode.decider == Decider::Calibrated;
  });
}

/// Centres of equal bins of [0, 1].
std::vector<double> centres(std::int64_t bins) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < bins; ++i) {
    out.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(bins));
  }
  return out;
}

/// The axis after `layer` of a statistic with several numbers.
SeriesAxis axis_of(const RoutingStatistic& s) {
  if (s.name == "tdt_g_histogram") {
    return {.name = "histogram_bin", .length = kGateBins, .values = centres(kGateBins)};
  }
  if (s.name.starts_with("router_reliability")) {
    return {
        .name = "reliability_bin", .length = kReliabilityBins, .values = centres(kReliabilityBins)};
  }
  return {.name = "position_decile", .length = kPositionDeciles};
}

}  // namespace

RoutingProbe::RoutingProbe(const Model& model, const ProbeSet& set, RoutingProbeOptions options)
    : model_(model),
      set_(set),
      options_(std::move(options)),
      sequences_(std::min(set.sequences(), kMostSequences)) {
  if (options_.masks < 0 || options_.masks > sequences_) {
    throw Error("masks are kept of sequences that the probe measures");
  }
}

void RoutingProbe::declare(RecordSink& out) {
  const ModelOptions& o = model_.options();
  const SeriesAxis layer{.name = "layer", .length = o.layers};
  for (const RoutingStatistic& s : routing_statistic_rows(o)) {
    std::vector<SeriesAxis> axes = {layer};
    if (s.width > 1) axes.push_back(axis_of(s));
    statistics_.push_back(out.declare({std::string(s.name), std::move(axes)}));
  }
  if (calibrates(model_)) threshold_ = out.declare({"router_threshold", {layer}});
  if (o.facts().teaches) gradients_ = out.declare({"tdt_scalar_grad_norm", {layer}});
  blocks_ = out.declare({"routing_blocks_per_token"});
  unexecuted_ = out.declare({"routing_unexecuted_share"});
  longest_ = out.declare({"routing_longest_skip"});
  fill_ = out.declare({"routing_kv_fill", {layer}});
  bytes_ = out.declare({"routing_kv_bytes"});
  if (options_.masks == 0) return;
  const std::vector<SeriesAxis> bits = {
      layer,
      {.name = "sequence_sample", .length = options_.masks},
      {.name = "mask_byte", .length = (set_.tokens() + kBitsPerByte - 1) / kBitsPerByte}};
  capacity_mask_ = out.declare({"routing_capacity_mask", bits});
  rate_mask_ = out.declare({"routing_mask", bits});
}

at::Tensor RoutingProbe::tokens(std::int64_t first, std::int64_t count) const {
  return set_.windows.narrow(0, first, count)
      .to(model_.options().device)
      .unsqueeze(0)
      .expand({model_.options().cells, -1, -1});
}

RoutingRecord RoutingProbe::record_of(const Execution& execution) const {
  const at::NoGradGuard no_grad;
  RoutingRecord record;
  record.teach = true;
  model_.states(tokens(0, sequences_).narrow(2, 0, set_.tokens()),
                {.execution = execution, .routing = &record});
  return record;
}

/// (E, L) norm of the gradient of the mean loss per token by the four scalars of a layer (of which
/// o_ce and m_cu as they act) in a training pass such as the next step makes; NaN for layers that
/// have none. No generator is touched: draws follow from seed, step and row.
at::Tensor RoutingProbe::scalar_gradient_norms(std::int64_t step) const {
  const at::AutoGradMode gradients(true);
  const ModelOptions& o = model_.options();
  const std::vector<std::uint64_t> seeds(static_cast<std::size_t>(o.cells), 0);  // of dropout
  const std::size_t layers = o.routing.layers.size();
  std::vector<at::Tensor> sums;  // (E, 1) by layer and scalar
  const std::int64_t sequences = std::min(sequences_, kGradientSequences);
  for (std::int64_t first = 0; first < sequences; first += options_.batch) {
    const at::Tensor windows = tokens(first, std::min(options_.batch, sequences - first));
    RoutingRecord record;
    record.teach = record.attached = true;
    const at::Tensor logits =
        model_.logits(windows.narrow(2, 0, set_.tokens()), {.training = true,
                                                            .step = step + 1,
                                                            .first_row = first,
                                                            .seeds = &seeds,
                                                            .routing = &record});
    std::vector<at::Tensor> by;
    for (const LayerRouting& layer : record.layers) {
      const GateScalars& s = layer.scalars;
      by.insert(by.end(), {s.o_ce, s.m_cu, s.beta_ce, s.beta_cu});
    }
    const at::Tensor loss = cell_cross_entropy(logits, windows.narrow(2, 1, set_.tokens())).sum();
    const std::vector<at::Tensor> part =
        torch::autograd::grad({loss}, by, {}, std::nullopt, false, /*allow_unused=*/true);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const at::Tensor of_pass = part[i].defined() ? part[i].detach().to(at::kDouble)
                                                   : at::zeros({o.cells, 1}, at::kDouble);
      if (sums.size() <= i) {
        sums.push_back(of_pass);
      } else {
        sums[i] = sums[i] + of_pass;
      }
    }
  }
  const auto count = static_cast<double>(sequences * set_.tokens());
  const at::Tensor out = at::full({o.cells, o.layers}, kNaN, at::kDouble);
  for (std::size_t i = 0; i < layers; ++i) {
    at::Tensor square = at::zeros({o.cells}, at::kDouble);
    for (std::size_t k = 0; k < 4; ++k) {
      square = square + (sums[4 * i + k].flatten() / count).square().cpu();
    }
    out.select(1, o.routing.layers[i]).copy_(square.sqrt());
  }
  return out;
}

/// The student with its default decider; of the calibrated one, the pass that calibrates is also
/// the one that is recorded.
CalibratedStudent RoutingProbe::student_on_set() const {
  if (!calibrates(model_)) return {{}, record_of({.mode = ExecutionMode::Student})};
  const at::Tensor text = set_.windows.narrow(0, 0, sequences_).narrow(1, 0, set_.tokens());
  CalibratedStudent out = calibrated_student(model_, text);
  if (model_.options().routing.decider != Decider::Calibrated) {
    out.record = record_of({.mode = ExecutionMode::Student, .thresholds = out.thresholds});
  }
  return out;
}

void RoutingProbe::measure(std::int64_t step, RecordSink& out) {
  const ModelOptions& o = model_.options();
  const RoutingRecord trained = record_of({.mode = model_.family().training_mode().mode});
  const CalibratedStudent student = student_on_set();
  const RoutingRecord& chosen = student.record;
  const std::vector<RoutingStatistic> found = routing_statistics(o, trained, chosen);
  for (std::size_t i = 0; i < found.size(); ++i) write_rows(statistics_[i], found[i].values, out);
  const auto write_layers = [&](std::size_t series, const at::Tensor& x) {
    const at::Tensor host = x.contiguous();
    write_rows(series,
               {host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel()}, out);
  };
  if (threshold_) {
    at::Tensor all = at::full({o.cells, o.layers}, kNaN, at::kDouble);
    const at::Tensor p = student.thresholds.sigmoid().to(at::kCPU, at::kDouble);
    for (std::size_t i = 0; i < o.routing.layers.size(); ++i) {
      all.select(1, o.routing.layers[i]).copy_(p.select(1, static_cast<std::int64_t>(i)));
    }
    write_layers(*threshold_, all);
  }
  if (gradients_) write_layers(*gradients_, scalar_gradient_norms(step));
  write_student(chosen, out);
  if (!rate_mask_) return;
  write_masks(*capacity_mask_, trained, &LayerRouting::target, out);
  write_masks(*rate_mask_, chosen, &LayerRouting::executed, out);
}

void RoutingProbe::write_student(const RoutingRecord& student, RecordSink& out) const {
  const ModelOptions& o = model_.options();
  ExecutionMasks masks;
  for (const LayerRouting& layer : student.layers) masks.push_back(layer.executed);
  std::vector<double> blocks = executed_per_token(masks);
  const auto always = static_cast<double>(o.layers) - static_cast<double>(masks.size());
  // Keys and values of the executed tokens, in single precision.
  constexpr double kBytesPerNumber = 4;
  const double full = 2 * kBytesPerNumber * static_cast<double>(o.width * set_.tokens());
  std::vector<double> fill, bytes;
  for (std::size_t e = 0; e < blocks.size(); ++e) {
    blocks[e] += always;
    bytes.push_back(full * blocks[e]);
    std::vector<double> shares(static_cast<std::size_t>(o.layers), 1);
    for (const LayerRouting& layer : student.layers) {
      shares[static_cast<std::size_t>(layer.layer)] =
          layer.executed[static_cast<std::int64_t>(e)].to(at::kDouble).mean().item<double>();
    }
    fill.insert(fill.end(), shares.begin(), shares.end());
  }
  write_rows(blocks_, blocks, out);
  write_rows(unexecuted_, unexecuted_shares(masks), out);
  write_rows(longest_, longest_skips(masks), out);
  write_rows(fill_, fill, out);
  write_rows(bytes_, bytes, out);
}

void RoutingProbe::write_masks(std::size_t series, const RoutingRecord& record,
                               at::Tensor LayerRouting::* mask, RecordSink& out) const {
  const ModelOptions& o = model_.options();
  const std::size_t bytes = static_cast<std::size_t>(
      options_.masks * ((set_.tokens() + kBitsPerByte - 1) / kBitsPerByte));
  const auto layers = static_cast<std::size_t>(o.layers), cells = static_cast<std::size_t>(o.cells);
  std::vector<double> all(cells * layers * bytes, kNaN);
  for (const LayerRouting& layer : record.layers) {
    const std::vector<double> packed = packed_mask(layer.*mask, options_.masks);
    for (std::size_t e = 0; e < cells; ++e) {
      std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(e * bytes), bytes,
                  all.begin() + static_cast<std::ptrdiff_t>(
                                    (e * layers + static_cast<std::size_t>(layer.layer)) * bytes));
    }
  }
  write_rows(series, all, out);
}

/// @param all  (E, ...)
void RoutingProbe::write_rows(std::size_t series, const std::vector<double>& all,
                              RecordSink& out) const {
  const auto cells = static_cast<std::size_t>(model_.options().cells);
  const std::size_t width = all.size() / cells;
  for (std::size_t e = 0; e < cells; ++e) {
    out.write(series, e, std::span(all).subspan(e * width, width));
  }
}

}  // namespace depthgrid
