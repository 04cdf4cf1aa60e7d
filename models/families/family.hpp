#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/depth/depth_grid.hpp"
#include "core/depth/vector_field.hpp"
#include "core/train/parameter_layout.hpp"
#include "models/families/causal_claim.hpp"
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

  /// Depth-time features at the readout, for a temporal final norm: (E, 1, F); undefined where the
  /// family has no depth-time.
  virtual at::Tensor readout_features() const { return {}; }

  /// Discrete transitions Ā of the state-space layers at the nodes of the evaluation grid, for
  /// diagnostics: (E, L, N) or (E, L, N, N); undefined where the family has none.
  virtual at::Tensor transitions() const { return {}; }

  /// Ways of executing this family, and whether each is causal. Training and evaluation are always
  /// among them, by these names; a mode that figures are taken from must be causal.
  virtual std::vector<CausalClaim> claims() const {
    return {{.name = "training", .context = {.training = true}}, {.name = "evaluation"}};
  }

  /// Parameters that training does not reach, and why; empty for most.
  virtual std::vector<DeadParameter> dead_parameters() const { return {}; }
};

/// How a family is made over its parameters.
using FamilyBuilder = std::function<std::unique_ptr<Family>(ParameterSource&, const ModelOptions&)>;

}  // namespace depthgrid
