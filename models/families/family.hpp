#pragma once

#include <memory>
#include <vector>

#include "core/depth/depth_grid.hpp"
#include "core/depth/vector_field.hpp"
#include "models/decode/decode_block.hpp"
#include "models/forward_context.hpp"
#include "models/model_options.hpp"

namespace depthgrid {

/// One way of letting depth act: its parameters, the grid it walks and the field on that grid.
///
/// A family is one file in models/families and one row of model_factory.cpp. Embedding, readout,
/// training, evaluation and storage do not know which one they serve.
class Family {
 public:
  virtual ~Family() = default;

  /// Nodes and step lengths of one pass.
  virtual DepthGrid grid(const ForwardContext& context) const = 0;

  /// The field of one pass; what depends on the nodes alone is computed here, once for all of them.
  /// @param grid, context  must outlive the field.
  virtual FieldPtr field(const DepthGrid& grid, const ForwardContext& context) const = 0;

  /// The blocks that the field runs at the nodes of an evaluation grid, for decoding token by token
  /// (models/decode): one a step; none where a step is more than one block.
  virtual std::vector<DecodeBlock> blocks(const DepthGrid& /*grid*/) const { return {}; }

  /// Depth-time features at the readout, for a temporal final norm: (E, 1, F); undefined where the
  /// family has no depth-time.
  virtual at::Tensor readout_features() const { return {}; }

  /// Discrete transitions Ā of the state-space layers at the nodes of the evaluation grid, for
  /// diagnostics: (E, L, N) or (E, L, N, N); undefined where the family has none.
  virtual at::Tensor transitions() const { return {}; }
};

}  // namespace depthgrid
