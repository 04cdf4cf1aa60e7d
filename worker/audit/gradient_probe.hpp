#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/audit/audit_models.hpp"

namespace depthgrid {

/// Effect of changing the end of a sequence on the gradients of earlier logits.
struct GradientEffect {
  double change = 0;      // largest, relative to the largest gradient of its cell
  std::int64_t cut = 0;   // at which it is
  std::string parameter;  // of which it is
  bool reached = false;   // there are gradients at all
};

/// For every cut of a short window: the gradients, by all parameters, of a weighted sum of the
/// training logits before the cut, with the sequences as they are and with other tokens from the
/// cut onwards. A value that is exact but whose gradient comes from later tokens (a
/// straight-through gate, an attention that is causal forwards only) changes these and nothing
/// else.
///
/// Runs on a twin in float64 whose cells are copies, one for each cut.
/// @param held  execute what the unchanged sequences execute.
GradientEffect change_gradients(const AuditModels& models, bool held);

/// The same at any width and length by a single backward pass: sequences whose tokens before their
/// cut come from the lower half of the vocabulary and those behind it from the upper half. The
/// gradient of the early logits (of the lower half) by the upper rows of the table of tokens is
/// exactly 0, in any arithmetic.
/// @param rows  sequences of each cell; cuts are spread over all of them.
/// @param step  of training.
GradientEffect gradients_by_late_tokens(AuditModel& model, std::int64_t tokens, std::int64_t rows,
                                        std::int64_t step, bool held);

}  // namespace depthgrid
