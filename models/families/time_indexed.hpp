#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// One block shared by all depths, each weight times a gate of depth-time:
/// W_eff(t) = W_base ⊙ σ(g_φ(e(t))), one g_φ per weight type, per output row, per input column or
/// per element. Biases are not gated. The second sublayer is feed-forward, or a state-space layer
/// whose A, B, C, D have gates of the same kind (mixer: ssm).
/// Source: first study, sections 2.3 (sharing with time-indexed modulation) and 2.4 (its
/// state-space variant).
/// @param o  must outlive the family.
std::unique_ptr<Family> make_time_indexed(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
