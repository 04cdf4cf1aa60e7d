#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// What one pass of an audited model gives.
struct AuditedPass {
  at::Tensor logits;     // (E, B, T, V), without graph
  RoutingRecord record;  // empty if the pass was not to be recorded
};

/// One quantity of a pass, for every token.
struct PassQuantity {
  std::string name;   // "a logit", "the score of layer 3"
  at::Tensor values;  // (E, B, T, ...)
};

/// Runs a pass; those of training record a graph, as in a step.
/// @param recorded  also what layers that skip tokens decide by. A trainer's pass is not recorded.
AuditedPass audited_pass(const AuditModel& model, const at::Tensor& tokens, ForwardContext context,
                         bool recorded = true);

/// Logits, and what routed layers have recorded.
/// @param decisions  also which tokens were executed.
std::vector<PassQuantity> quantities_of(const AuditedPass& pass, bool decisions);

/// Tokens of which a quantity differs in any bit.
/// @param tolerance  if positive: differs by more than this, relative to the largest or to 1.
/// @return (E, B, T) bool
at::Tensor changed_tokens(const at::Tensor& a, const at::Tensor& b, double tolerance = 0);

/// The step number of the pass with this number: odd and even, small, middle and the last ones that
/// are possible, in turn. What a model does may depend on it.
std::int64_t audited_step(std::size_t pass);

}  // namespace depthgrid
