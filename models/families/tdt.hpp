#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// Temporal dynamic transformer: blocks layers.0 ... layers.L-1, of which the dynamic ones execute
/// only surprising tokens. In training a teacher runs the whole block, compares its residual Δx
/// with a prediction Δx̂ from the previous token, and selects the k tokens with the highest gate; a
/// causal router learns to predict that selection and decides alone at inference.
///
/// Training (`model.tdt.train_path`): `dense` follows the study's text, all tokens pass. The gated
/// paths run two passes: a dense one for Δx and the signals, then one in which only the selected
/// tokens are queries and keys, whose result goes to the next layer. The teacher's TopK sees the
/// whole sequence, hence gated training is declared noncausal.
/// Besides its block's parameters, a dynamic layer has layers.i.tpn, layers.i.gate.{o_ce, m_cu,
/// beta_ce, beta_cu} and layers.i.router.
/// Source: third study, sections 3 to 5.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_tdt(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
