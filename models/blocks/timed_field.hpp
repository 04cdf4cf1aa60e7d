#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A block that depends on depth-time, as a field between its nodes: weights, norms and state-space
/// systems are made anew for each evaluation. Dropout draws masks of its own for each.
class TimedField final : public VectorField {
 public:
  /// The block at depth-time t (E).
  using Maker = std::function<DecodeBlock(const at::Tensor& t)>;

  /// Options, context and what the maker refers to must outlive the field.
  TimedField(const ModelOptions& options, const ForwardContext& context, Maker make);

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override;
  bool depends_on_h() const override { return options_.sublayers == Sublayers::Sequential; }

 private:
  const ModelOptions& options_;
  const ForwardContext& context_;
  Maker make_;
};

}  // namespace depthgrid
