#pragma once

#include <cstdint>
#include <memory>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// One block "block" at every step of the depth: x <- x + h Attn(N x), x <- x + h FFN(N x).
/// Source: Dehghani et al. (2019), section 2, without step embeddings and halting.
/// @param o  must outlive the family.
std::unique_ptr<Family> make_loop(ParameterSource& source, const ModelOptions& o);

/// Parameters of its depth: those of one block, however often it runs.
std::int64_t loop_parameters(const ModelOptions& o);

}  // namespace depthgrid
