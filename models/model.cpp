#include "models/model.hpp"

#include <memory>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include "core/base/error.hpp"
#include "core/depth/integrator.hpp"
#include "core/depth/recomputed_depth.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/model_factory.hpp"
#include "models/ops/cell_embedding.hpp"
#include "models/regularisers/penalised_stepper.hpp"

namespace depthgrid {
namespace {

at::Tensor table(ParameterSource& source, const ModelOptions& o, const std::string& name,
                 std::int64_t rows) {
  return source.parameter({.name = name,
                           .shape = {rows, o.width},
                           .group = ParameterGroup::Embedding,
                           .init = table_init(o)});
}

/// The signal of passes that are not given one.
Control constant_control(const ModelOptions& o) {
  const ControlOptions& c = o.control;
  if (c.constant.empty()) return {};
  std::vector<double> all;
  for (const std::vector<double>& u : c.constant) all.insert(all.end(), u.begin(), u.end());
  return {at::tensor(all, at::kFloat).to(o.device).view({o.cells, 1, 1, c.axes})};
}

/// Only training passes are recomputed, and only those that record nothing on their way.
bool recomputes(const GradientPlan& plan, const ForwardContext& c) {
  return plan.mode != GradientMode::Plain && c.training && !c.composed && c.routing == nullptr &&
         c.state_space == nullptr && c.attention == nullptr;
}

/// Only a pass whose losses are asked for has regularisers.
bool penalises(const RegulariserOptions& o, const ForwardContext& c) {
  return c.training && c.losses != nullptr && o.of_depth();
}

/// What a pass refers to, which is kept as long as its graph: fields are evaluated again in the
/// backward pass, when the caller's context may be gone.
struct KeptPass {
  ForwardContext context;
  std::vector<std::unique_ptr<const PenalisedStepper>> steppers = {};
};

}  // namespace

Model::Model(ParameterSource& source, ModelOptions options, const FamilyBuilder& build)
    : options_(std::move(options)) {
  const ModelOptions& o = options_;
  embedding_ = table(source, o, "embedding.weight", o.vocabulary);
  if (o.positions == Positions::Learned) {
    position_ = table(source, o, "position.weight", o.max_tokens);
  }
  family_ = build ? build(source, o) : build_family(source, o);
  if (o.final_norm == NormChoice::TemporalLayer) {
    temporal_final_ = TemporalNorm(source, o, "final_norm");
  } else {
    final_norm_ = norm_parameters(source, o, "final_norm", o.final_norm);
  }
  if (!o.tie_embeddings) {
    head_ = affine_parameters(source, o,
                              {.name = "head",
                               .in = o.width,
                               .out = o.vocabulary,
                               .bias = false,
                               .group = ParameterGroup::Head});
  }
  layer_control_ = LayerControl(source, o);
  if (o.control.as_prefix) {
    prefix_ = source.parameter({.name = "prefix.weight",
                                .shape = {o.control.axes, o.width},
                                .group = ParameterGroup::Control});
  }
  if (o.control.contrasts) {
    const auto learned = [&](const char* name, std::int64_t size) {
      return source.parameter({.name = name, .shape = {size}, .group = ParameterGroup::Control});
    };
    contrast_ = {learned("contrast.scale", 1), learned("contrast.bias", o.control.axes)};
  }
  own_control_ = constant_control(o);
  for (const Regulariser kind : o.regularisers.directed()) {
    const std::string_view name = kRegulariserNames[static_cast<std::size_t>(kind)];
    directions_.push_back(
        source.parameter({.name = "regularisers." + std::string(name) + ".direction",
                          .shape = {o.max_tokens, o.width},
                          .group = ParameterGroup::Scalars,
                          .init = {.draw = Init::Draw::Normal, .scale = {1.0}},
                          .average = true}));
  }
}

at::Tensor Model::embed(const at::Tensor& tokens, std::int64_t first) const {
  const at::Tensor x = cell_embedding(embedding_, tokens);
  if (!position_.defined()) return x;
  const std::int64_t end = first + tokens.size(2);
  if (end > position_.size(1)) {
    throw ShapeError("a window of " + std::to_string(end) +
                     " tokens is longer than the position table (model.max_seq_len = " +
                     std::to_string(position_.size(1)) + ")");
  }
  return x + position_.narrow(1, first, tokens.size(2)).unsqueeze(1);
}

std::vector<DepthSegment> Model::segments(const ForwardContext& context) const {
  std::vector<DepthSegment> out = family_->segments(context);
  if (context.bypass && options_.flow.replaced() > 0) {
    std::erase_if(out, [](const DepthSegment& segment) { return segment.flow; });
  }
  for (DepthSegment& segment : out) segment.field = layer_control_.over(std::move(segment.field));
  return out;
}

at::Tensor Model::through(const at::Tensor& x, const ForwardContext& context,
                          const Control& u) const {
  const DepthPass pass{context.watch, context.step, context.losses};
  const bool recomputed = recomputes(options_.gradient, context);
  const bool penalised = penalises(options_.regularisers, context);
  // All training passes of a step take one path, so that their states can be compared.
  const bool composed = context.training && options_.regularisers.of_jacobian();
  std::shared_ptr<KeptPass> kept;
  if (recomputed || penalised || composed) {
    kept = std::make_shared<KeptPass>(KeptPass{context});
    kept->context.watch = {};
    kept->context.losses = nullptr;
    kept->context.composed |= composed;
  }
  std::vector<DepthSegment> depth = segments(kept ? kept->context : context);
  // Without a graph, as for finite differences, Jacobians need one all the same.
  const at::AutoGradMode graph(at::GradMode::is_enabled() || penalised);
  at::Tensor state = x;
  for (DepthSegment& segment : depth) {
    const Stepper* method = segment.method->stepper();
    const bool with_losses = penalised && regularised(segment, depth);
    if (with_losses) {
      kept->steppers.push_back(std::make_unique<PenalisedStepper>(*method, options_.regularisers,
                                                                  directions_, kept->context));
      method = kept->steppers.back().get();
    }
    if (recomputed && (segment.flow || options_.gradient.mode == GradientMode::Checkpoint)) {
      segment.method = std::make_unique<RecomputedDepth>(*method, options_.gradient, kept);
    } else if (with_losses) {
      segment.method = std::make_unique<DepthIntegrator>(*method);
    }
    state = segment.method->solve(*segment.field, segment.grid, state, u, pass);
  }
  return state;
}

std::vector<LossTerm> Model::loss_terms() const {
  std::vector<LossTerm> out = family_->loss_terms();
  const RegulariserOptions& o = options_.regularisers;
  for (const RegulariserOptions::Term& term : o.terms) {
    out.push_back({kRegulariserNames[static_cast<std::size_t>(term.kind)], term.weight});
  }
  for (const Regulariser kind : o.directed()) {
    out.push_back({.name = kRegulariserNames[static_cast<std::size_t>(kind)], .observes = true});
  }
  return out;
}

at::Tensor Model::states(const at::Tensor& tokens, const ForwardContext& context) const {
  const at::Tensor x = embed(tokens);
  const Control& u = control(context.control);
  const at::Tensor plain = through(x, context, u);
  const at::Tensor before = prefix(u, x.size(1));
  if (!before.defined()) return plain;
  ForwardContext behind = context;  // what watches a pass sees the text alone
  behind.watch = {};
  behind.state_space = nullptr;
  behind.attention = nullptr;
  const at::Tensor moved = through(at::cat({before.to(x.scalar_type()), x}, 2), behind, u)
                               .narrow(2, before.size(2), x.size(2));
  const at::Tensor steered = u.u.narrow(2, 0, 1).ne(0).any(3, /*keepdim=*/true);
  return at::where(steered, moved, plain);
}

at::Tensor Model::prefix(const Control& u, std::int64_t rows) const {
  if (!prefix_.defined() || !u.u.defined()) return {};
  if (u.u.dim() != 4 || u.u.size(3) != options_.control.axes ||
      (u.u.size(2) != 1 && u.u.stride(2) != 0)) {
    throw ShapeError("the signal of a prefix is (E, B, 1, " +
                     std::to_string(options_.control.axes) + "), one for a whole sequence");
  }
  const at::Tensor each = u.u.select(2, 0).unsqueeze(-1).to(prefix_.options());  // (E, B, c, 1)
  return (each * prefix_.unsqueeze(1)).expand({-1, rows, -1, -1});
}

std::vector<DeadParameter> Model::dead_parameters() const {
  std::vector<DeadParameter> out = family_->dead_parameters();
  if (options_.control.contrasts) {
    for (const char* name : {"contrast.scale", "contrast.bias"}) {
      out.push_back({name, "train.control.contrastive trains it, the loss of a text does not"});
    }
  }
  const bool moved = options_.regularisers.has(Regulariser::ControlSmoothness);
  if (options_.control.axes == 0 || options_.control.trained() || moved) return out;
  ParameterLayout layout;
  Model(layout, options_);
  for (const ParameterSlot& slot : layout.slots()) {
    if (slot.spec.group != ParameterGroup::Control) continue;
    if (slot.spec.name.starts_with("contrast.")) continue;  // said already
    out.push_back({slot.spec.name, "text is trained without a control signal"});
  }
  return out;
}

at::Tensor Model::normed(const at::Tensor& states) const {
  const ModelOptions& o = options_;
  const bool temporal = o.final_norm == NormChoice::TemporalLayer;
  const NormWeights norm =
      temporal ? temporal_final_.evaluate(family_->readout_features()).front() : final_norm_;
  return apply_norm(o, o.final_norm, norm, states);
}

at::Tensor Model::readout(const at::Tensor& states) const {
  const ModelOptions& o = options_;
  const at::Tensor x = normed(states);
  const AffineMap head = o.tie_embeddings ? AffineMap{embedding_, {}} : head_;
  return apply(head, x).to(x.scalar_type());
}

at::Tensor Model::logits(const at::Tensor& tokens, const ForwardContext& context) const {
  return readout(states(tokens, context));
}

}  // namespace depthgrid
