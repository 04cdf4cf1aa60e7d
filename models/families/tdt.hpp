#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// Temporal dynamic transformer: blocks layers.0 ... layers.L-1, of which the dynamic ones execute
/// the tokens that surprise. In training a teacher runs the whole block, compares its residual Δx
/// with a prediction Δx̂ made from the token before, and takes the k tokens of highest gate; a
/// causal router learns to foresee that choice and decides alone at inference.
///
/// Training (`model.tdt.train_path`): dense is the study's text, all tokens pass. The gated paths
/// run two passes: a dense one for Δx and the signals, then one in which only the selected tokens
/// are queries and keys; what goes on to the next layer is that of the second. The teacher's TopK
/// looks along the whole sequence, hence gated training is declared noncausal.
/// Besides a block's own, a dynamic layer has layers.i.tpn, layers.i.gate.{o_ce, m_cu, beta_ce,
/// beta_cu} and layers.i.router.
/// Source: third study, sections 3 to 5.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_tdt(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
