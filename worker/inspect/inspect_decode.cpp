#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "models/decode/decoder.hpp"
#include "models/routing/routing_record.hpp"
#include "worker/inspect/inspect_pass.hpp"
#include "worker/inspect/inspections.hpp"

namespace depthgrid {
namespace {

/// Number of tokens processed at once: the prefill, then the chunks, then one by one.
std::vector<std::int64_t> pieces_of(const CheckCase& c, std::int64_t tokens) {
  std::vector<std::int64_t> out;
  if (c.prefill > 0) out.push_back(c.prefill);
  out.insert(out.end(), c.chunks.begin(), c.chunks.end());
  std::int64_t taken = 0;
  for (const std::int64_t n : out) taken += n;
  if (taken > tokens) {
    throw UserError(
        ExitCode::BadData,
        fmt::format("check decode: prefill and chunks are {} tokens, there are {}", taken, tokens));
  }
  out.insert(out.end(), static_cast<std::size_t>(tokens - taken), 1);
  return out;
}

/// Output of a decoder.
struct Decoded {
  at::Tensor logits;              // (1, B, T, V)
  std::vector<at::Tensor> masks;  // (1, B, T) of each dynamic layer
};

Decoded decode(const Model& model, Decoder& decoder, const at::Tensor& tokens,
               const std::vector<std::int64_t>& pieces) {
  const std::vector<std::int64_t>& layers = model.options().routing.layers;
  std::vector<at::Tensor> logits;
  std::vector<std::vector<at::Tensor>> masks(layers.size());
  std::int64_t at = 0;
  for (const std::int64_t n : pieces) {
    logits.push_back(model.readout(decoder.advance(tokens.narrow(2, at, n))));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      masks[i].push_back(decoder.executed(layers[i]));
    }
    at += n;
  }
  Decoded out{at::cat(logits, 2), {}};
  for (const std::vector<at::Tensor>& pieces_of_mask : masks) {
    out.masks.push_back(at::cat(pieces_of_mask, 2));
  }
  return out;
}

double share_equal(const at::Tensor& a, const at::Tensor& b) {
  return a.eq(b).to(at::kDouble).mean().item<double>();
}

}  // namespace

CheckReport inspect_decode(CheckSubject& subject, const CheckCase& c) {
  const at::NoGradGuard no_grad;
  const CheckModel& m = subject.model(c);
  const ModelOptions& o = m.model.options();
  const at::Tensor tokens = subject.tokens(c);
  const CheckExecution e = inspect_execution(m, c, tokens);
  const bool ranks = e.training || e.execution->mode == ExecutionMode::TeacherTopk ||
                     e.execution->mode == ExecutionMode::TeacherThreshold;
  if (ranks) {
    throw UserError(ExitCode::Usage,
                    fmt::format("check decode: mode {}: it ranks a whole text, or knows its score "
                                "after the block only; take dense, student, random, skip_all or "
                                "forced",
                                *c.mode));
  }
  Decoder decoder(m.model, *e.execution);
  const Decoded ours = decode(m.model, decoder, tokens, pieces_of(c, tokens.size(2)));
  RoutingRecord record;
  const at::Tensor whole = m.model.logits(tokens, {.execution = e.execution, .routing = &record});

  CheckReport out = pass_report(subject, c, e, tokens, ours.logits);
  out.add("difference", (ours.logits - whole).abs().max().item<double>())
      .add("logits_std", whole.std().item<double>())
      .add("argmax_agreement", share_equal(ours.logits.argmax(-1), whole.argmax(-1)))
      .add("cache_bytes", decoder.bytes());
  std::vector<at::Tensor> lengths;
  for (std::int64_t i = 0; i < decoder.steps(); ++i) {
    lengths.push_back(at::tensor(decoder.lengths(i), at::kLong).unsqueeze(0));
  }
  out.add("kv_lengths", at::cat(lengths));
  std::vector<CheckReport> layers;
  for (std::size_t i = 0; i < ours.masks.size(); ++i) {
    const LayerRouting& full = record.layers.at(i);
    CheckReport& layer = layers.emplace_back();
    layer.add("layer", o.routing.layers[i])
        .add("executed", ours.masks[i][0].sum(-1))
        .add("rate", ours.masks[i].to(at::kDouble).mean().item<double>())
        .add("mask_agreement", share_equal(ours.masks[i], full.executed));
    if (!c.dump) continue;
    layer.add("mask", ours.masks[i][0]).add("mask_recomputed", full.executed[0]);
    if (full.logits.defined()) layer.add("router_logits", full.logits[0]);
  }
  out.add("layers", std::move(layers));
  if (!c.dump) return out;
  return std::move(out.add("tokens", tokens[0])
                       .add("logits", ours.logits[0])
                       .add("logits_recomputed", whole[0]));
}

}  // namespace depthgrid
