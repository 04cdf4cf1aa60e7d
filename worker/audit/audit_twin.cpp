#include "worker/audit/audit_twin.hpp"

#include <algorithm>
#include <limits>

namespace depthgrid {
namespace {

constexpr std::int64_t kInner = 16;       // width of networks of depth-time
constexpr std::int64_t kLeastHead = 8;    // channels of a head
constexpr std::int64_t kFrequencies = 8;  // K
constexpr std::int64_t kFlowSteps = 8;    // m

void at_most(std::int64_t& value, std::int64_t bound) {
  value = std::min(value, bound);
}

/// The most heads, up to the original number, that divide the width into even parts of at least 8.
std::int64_t heads_for(std::int64_t width, std::int64_t heads) {
  while (heads > 1 && (width % (2 * heads) != 0 || width / heads < kLeastHead)) --heads;
  return heads;
}

}  // namespace

ModelOptions twin_of(ModelOptions o, const TwinSize& size) {
  const bool step_a_layer = o.timed() && o.depth_steps() == o.layers;
  if (o.width > size.width) {
    for (std::int64_t* hidden : {&o.hidden, &o.flow.hidden}) {
      *hidden = std::max<std::int64_t>(8, *hidden * size.width / o.width);
    }
    o.width = size.width;
    o.heads = heads_for(o.width, o.heads);
    at_most(o.ssm.states, kInner);
  }
  at_most(o.layers, size.layers);
  at_most(o.vocabulary, size.vocabulary);
  at_most(o.max_tokens, size.tokens);
  at_most(o.temporal_hidden, kInner);
  at_most(o.time.frequencies, kFrequencies);
  at_most(o.modulation.hidden, kInner);
  at_most(o.hypernet.hidden, kInner);
  at_most(o.ssm.generator, kInner);
  at_most(o.tdt.tpn_width, kInner);
  at_most(o.mod.predictor_hidden, kInner);
  o.routing.gathered_length = 0;  // its cells have one γ
  at_most(o.solver.steps, kFlowSteps);
  if (step_a_layer) o.solver.steps = o.layers;
  if (o.flow.replaced() > 0) {
    at_most(o.flow.last, o.layers);
    at_most(o.flow.first, o.flow.last - 1);
  }
  if (!o.control.layers.empty()) {
    const auto gone = [&](std::int64_t layer) {
      return layer >= o.layers || (layer >= o.flow.first && layer < o.flow.last);
    };
    std::erase_if(o.control.layers, gone);
    for (std::int64_t layer = 0; layer < o.layers && o.control.layers.empty(); ++layer) {
      if (!gone(layer)) o.control.layers = {layer};
    }
  }
  if (!o.routing.layers.empty()) {
    std::erase_if(o.routing.layers, [&](std::int64_t layer) { return layer >= o.layers; });
    if (o.routing.layers.empty()) o.routing.layers = {o.layers - 1};
  }
  return o;
}

ModelOptions without_dense_start(ModelOptions o) {
  std::ranges::fill(o.tdt.dense_steps, 0);
  return o;
}

ModelOptions in_dense_start(ModelOptions o) {
  std::ranges::fill(o.tdt.dense_steps, std::numeric_limits<std::int64_t>::max());
  return o;
}

ModelOptions without_adjoint(ModelOptions o) {
  if (o.gradient.mode == GradientMode::Adjoint) o.gradient = {};
  return o;
}

ModelOptions without_noise(ModelOptions o) {
  std::ranges::fill(o.dropout_attention, 0);
  std::ranges::fill(o.dropout_mlp, 0);
  std::ranges::fill(o.time.jitter, 0);
  return o;
}

}  // namespace depthgrid
