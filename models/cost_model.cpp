#include "models/cost_model.hpp"

namespace depthgrid {

namespace {

/// Multiply-adds per token and layer of the second sublayer.
double second_sublayer(const ModelOptions& o) {
  const auto c = static_cast<double>(o.width);
  if (o.mixer == Mixer::Mlp) return c * static_cast<double>(o.up_rows() + o.hidden);
  const auto n = static_cast<double>(o.ssm.states);
  const double skip = o.ssm.skip == SsmSkip::Full ? c * c : 0.0;
  return 2 * c * n + (o.ssm.dense ? n * n : n) + skip;
}

/// Numbers per token and layer that it keeps for the way back.
double second_sublayer_kept(const ModelOptions& o) {
  if (o.mixer == Mixer::Ssm) return static_cast<double>(2 * o.ssm.states + o.width);
  return 2 * static_cast<double>(o.up_rows()) + static_cast<double>(o.hidden);
}

}  // namespace

double flops_per_token(const ModelOptions& o, std::int64_t tokens) {
  const auto c = static_cast<double>(o.width);
  const auto t = static_cast<double>(tokens);
  const double products = 4 * c * c + second_sublayer(o);
  const double attention = 2 * t * c;  // scores and averages, multiply-adds
  const double readout = c * static_cast<double>(o.vocabulary);
  return 2 * (static_cast<double>(o.layers) * (products + attention) + readout);
}

double activation_bytes(const ModelOptions& o, std::int64_t rows, std::int64_t tokens) {
  const auto n = static_cast<double>(rows * tokens);
  const auto c = static_cast<double>(o.width);
  // A layer keeps its input, two normalised copies, qkv and its head views, the attention output,
  // both increments (about 12 C) and what the second sublayer computes on its way: up before and
  // after its activation, or the driven and the running states of a state-space layer.
  const double layer = 12 * c + second_sublayer_kept(o);
  const bool squares = o.attention == AttentionKind::Explicit;
  const double scores =
      squares ? 3 * static_cast<double>(o.heads) * static_cast<double>(tokens) : 0.0;
  const double readout = 3 * static_cast<double>(o.vocabulary) + 3 * c;
  return 4 * n * (static_cast<double>(o.layers) * (layer + scores) + readout);
}

std::int64_t effective_parameters(const ModelOptions& o, std::int64_t stored,
                                  std::int64_t shared_block) {
  return stored + (o.layers - 1) * shared_block;
}

}  // namespace depthgrid
