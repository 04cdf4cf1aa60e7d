#pragma once

#include <memory>

#include "core/train/parameter_layout.hpp"
#include "models/families/family.hpp"

namespace depthgrid {

/// L separate blocks layers.0 ... layers.L-1: x <- x + h Attn(N x), x <- x + h FFN(N x).
/// Source: Radford et al. (2019), section 2.3.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_standard(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
