#pragma once

#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// L blocks layers.0 ... layers.L-1: x <- x + h Attn(N x), x <- x + h FFN(N x).
/// Source: Radford et al. (2019), section 2.3.
///
/// Shared parameters (`model.share`) are named "block": the whole block, as in the Universal
/// Transformer (Dehghani et al., 2019, without its step embeddings and halting), or one sublayer
/// with the norm before it, as in ALBERT (Lan et al., 2020, table 4). Shared and separate layers
/// cost the same time.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_standard(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
