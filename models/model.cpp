#include "models/model.hpp"

#include <string>

#include <ATen/TensorOperators.h>

#include "core/base/error.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/model_factory.hpp"
#include "models/ops/cell_embedding.hpp"

namespace depthgrid {
namespace {

at::Tensor table(ParameterSource& source, const ModelOptions& o, const std::string& name,
                 std::int64_t rows) {
  return source.parameter({.name = name,
                           .shape = {rows, o.width},
                           .group = ParameterGroup::Embedding,
                           .init = table_init(o)});
}

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

at::Tensor Model::states(const at::Tensor& tokens, const ForwardContext& context) const {
  at::Tensor x = embed(tokens);
  for (const DepthSegment& segment : family_->segments(context)) {
    x = segment.method->solve(*segment.field, segment.grid, x, context.control, context.watch,
                              context.step);
  }
  return x;
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
