#include "models/closed_form.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "models/model_factory.hpp"

namespace depthgrid {
namespace {

std::int64_t affine(std::int64_t in, std::int64_t out, bool bias = true) {
  return in * out + (bias ? out : 0);
}

/// A chain of affine maps with biases.
std::int64_t chain(std::int64_t in, const std::vector<std::int64_t>& widths) {
  std::int64_t sum = 0;
  for (const std::int64_t out : widths) {
    sum += affine(in, out);
    in = out;
  }
  return sum;
}

std::int64_t norm(const ModelOptions& o, NormChoice kind) {
  const std::int64_t e = o.temporal_hidden;
  switch (kind) {
    case NormChoice::Layer:
      return 2 * o.width;
    case NormChoice::Rms:
      return o.width;
    case NormChoice::TemporalLayer:
      return chain(o.time.features(), {e, e}) + 2 * e * o.width;
    case NormChoice::None:
      return 0;
  }
  return 0;
}

std::int64_t residual(const ModelOptions& o) {
  if (o.residual.kind == ScaleKind::Fixed) return 0;
  return o.residual.kind == ScaleKind::Learned ? 1 : o.layers;
}

std::int64_t attention(const ModelOptions& o) {
  return 4 * affine(o.width, o.width, o.attention_bias);
}

std::int64_t feed_forward(const ModelOptions& o) {
  return affine(o.width, o.up_rows(), o.mlp_bias) + affine(o.hidden, o.width, o.mlp_bias);
}

/// One network of depth-time with `out` gates as output.
std::int64_t gate(const ModelOptions& o, std::int64_t out) {
  const std::int64_t h = o.modulation.hidden;
  return h > 0 ? chain(o.time.features(), {h, out}) : chain(o.time.features(), {out});
}

/// Gates of the weights of attention and, if there is one, of the feed-forward sublayer.
std::int64_t weight_gates(const ModelOptions& o) {
  if (o.modulation.gate == GateKind::Constant) return 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kWeightTypes; ++i) {
    const auto type = static_cast<WeightType>(i);
    const bool borrowed =
        o.modulation.share_qkv && (type == WeightType::K || type == WeightType::V);
    if (!o.modulation.target[i] || borrowed) continue;
    const std::int64_t rows = type == WeightType::Up ? o.up_rows() : o.width;
    const std::int64_t columns = type == WeightType::Down ? o.hidden : o.width;
    const Granularity g = o.modulation.granularity[i];
    sum += gate(o, g == Granularity::Row      ? rows
                   : g == Granularity::Column ? columns
                                              : rows * columns);
  }
  return sum;
}

/// A, B, C, D and Δ, shared or generated, and their gates.
std::int64_t state_space(const ModelOptions& o) {
  const std::int64_t n = o.ssm.states, c = o.width;
  const bool has_skip = o.ssm.skip != SsmSkip::None;
  const bool has_delta = o.ssm.discretisation != Discretisation::None;
  struct Part {
    std::int64_t rows, columns;
    bool there, delta;
  };
  const std::array<Part, 5> parts = {{{n, o.ssm.dense ? n : 1, true, false},
                                      {n, c, true, false},
                                      {c, n, true, false},
                                      {c, o.ssm.skip == SsmSkip::Full ? c : 1, has_skip, false},
                                      {n, 1, has_delta, true}}};
  const bool gated = o.modulation.gate != GateKind::Constant;
  std::int64_t sum =
      o.ssm.generated ? chain(o.time.features(), {o.ssm.generator, o.ssm.generator}) : 0;
  for (const Part& p : parts) {
    if (!p.there) continue;
    const std::int64_t entries = p.rows * p.columns;
    if (o.ssm.generated) {
      sum += affine(o.ssm.generator, entries);
    } else {
      sum += p.delta ? gate(o, n) : entries;  // Δ has a network of its own and no gate
    }
    if (gated && (o.ssm.generated || !p.delta)) sum += gate(o, o.ssm.element ? entries : p.rows);
  }
  return sum;
}

/// A map whose weights (and bias, if generated) are affine in the output of a time network.
std::int64_t generated_map(const ModelOptions& o, std::int64_t in, std::int64_t out, bool bias) {
  const HypernetOptions& h = o.hypernet;
  const std::vector<std::int64_t> widths(static_cast<std::size_t>(h.depth), h.hidden);
  const std::int64_t biases = h.generate_bias ? h.hidden * out : out;
  return chain(o.time.features(), widths) + (h.hidden + 1) * in * out + (bias ? biases : 0);
}

/// The maps of a control signal into the field of a flow.
std::int64_t field_control(const ModelOptions& o) {
  const ControlOptions& control = o.control;
  if (!control.in_flow) return 0;
  const bool rows = o.flow.field == FieldKind::Mlp;
  const std::int64_t first_maps = rows ? o.flow.hidden : 3 * o.width + o.flow.hidden;
  switch (control.injection) {
    case Injection::Additive:
      return affine(control.axes, o.width, control.bias);
    case Injection::Film:
      return 2 * control.axes * (rows ? o.flow.hidden : 2 * o.width);
    case Injection::Concat:
      return control.axes * first_maps;
  }
  return 0;
}

/// Those into discrete layers, or the vectors of a prefix.
std::int64_t stream_control(const ModelOptions& o) {
  const ControlOptions& control = o.control;
  const auto places =
      static_cast<std::int64_t>(control.layers.size()) + (control.as_prefix ? 1 : 0);
  return places * control.axes * o.width + (control.contrasts ? 1 + control.axes : 0);
}

}  // namespace

std::int64_t standard_parameters(const ModelOptions& o) {
  const bool one_attention = o.share == Share::All || o.share == Share::Attention;
  const bool one_second = o.share == Share::All || o.share == Share::FeedForward;
  return residual(o) + (one_attention ? 1 : o.layers) * (norm(o, o.norm) + attention(o)) +
         (one_second ? 1 : o.layers) * (norm(o, o.norm) + feed_forward(o));
}

std::int64_t time_indexed_parameters(const ModelOptions& o) {
  const std::int64_t second = o.mixer == Mixer::Mlp ? feed_forward(o) : state_space(o);
  const std::int64_t matrices = o.mixer == Mixer::Mlp ? 6 : 4;
  const std::int64_t gains = o.init.learned_gain ? matrices : 0;
  return residual(o) + 2 * norm(o, o.norm) + attention(o) + second + weight_gates(o) + gains;
}

std::int64_t tong_parameters(const ModelOptions& o) {
  const std::int64_t c = o.width;
  const bool ab = o.attention_bias, mb = o.mlp_bias;
  const std::int64_t qkv =
      o.hypernet.share_qkv ? generated_map(o, c, 3 * c, ab) : 3 * generated_map(o, c, c, ab);
  const std::int64_t block = 2 * norm(o, o.norm) + qkv + generated_map(o, c, c, ab) +
                             generated_map(o, c, o.up_rows(), mb) +
                             generated_map(o, o.hidden, c, mb);
  return residual(o) + (o.hypernet.per_layer ? o.layers : 1) * block;
}

/// A transition network C -> 2 w -> C without biases, a router over two states, four scalars and,
/// if surprise is normalised, its average.
std::int64_t tdt_parameters(const ModelOptions& o) {
  const std::int64_t router = 2 * o.width + (o.tdt.router_bias ? 1 : 0);
  const auto dynamic = static_cast<std::int64_t>(o.routing.layers.size());
  const std::int64_t scalars = o.tdt.layer_rms ? 5 : 4;
  return standard_parameters(o) + dynamic * (3 * o.width * o.tdt.tpn_width + router + scalars);
}

/// A router's weights and a predictor of its choice.
std::int64_t mod_parameters(const ModelOptions& o) {
  const auto dynamic = static_cast<std::int64_t>(o.routing.layers.size());
  return standard_parameters(o) + dynamic * (o.width + chain(o.width, {o.mod.predictor_hidden, 1}));
}

/// The remaining layers and one flow: a block with the embedding of τ, gates, a map of the control
/// signal and α; two affine maps over state and signal; or only a block.
std::int64_t hybrid_ode_parameters(const ModelOptions& o) {
  const FlowOptions& flow = o.flow;
  ModelOptions rest = o;
  rest.layers -= flow.replaced();
  const std::int64_t block = 2 * norm(o, o.norm) + attention(o);
  if (flow.field == FieldKind::Block) return standard_parameters(rest) + block + feed_forward(o);
  const std::int64_t time = flow.time_embedding ? chain(1, {o.width, o.width}) : 0;
  const std::int64_t own = time + (flow.alpha_learned ? 1 : 0);
  if (flow.field == FieldKind::Mlp) {
    return standard_parameters(rest) + own + field_control(o) +
           chain(o.width, {flow.hidden, o.width});
  }
  const std::int64_t maps =
      affine(o.width, flow.hidden, o.mlp_bias) + affine(flow.hidden, o.width, o.mlp_bias);
  ModelOptions inner = o;
  inner.hidden = flow.hidden;
  inner.activation = flow.activation;
  const std::int64_t gates = flow.field == FieldKind::TimeIndexed ? weight_gates(inner) : 0;
  return standard_parameters(rest) + block + maps + own + field_control(o) + gates;
}

std::optional<std::int64_t> closed_form_parameters(const ModelOptions& o) {
  const auto row = std::ranges::find(families(), o.family, &FamilyEntry::name);
  if (row == families().end() || row->parameters == nullptr) return std::nullopt;
  const std::int64_t tables = o.positions == Positions::Learned ? o.max_tokens * o.width : 0;
  const std::int64_t ends = (o.tie_embeddings ? 1 : 2) * o.vocabulary * o.width;
  const auto directions = static_cast<std::int64_t>(o.regularisers.directed().size());
  return row->parameters(o) + tables + ends + norm(o, o.final_norm) + stream_control(o) +
         directions * o.max_tokens * o.width;
}

}  // namespace depthgrid
