#pragma once

#include <cstdint>
#include <optional>

#include "models/options/model_options.hpp"

namespace depthgrid {

/// Number of parameters of one cell by its family's closed formula, from sizes alone: a check on
/// the layout, which counts the tensors that a model requests.
///
/// With F features of depth-time and m(i, h..., o) = the weights and biases of a chain of affine
/// maps: standard: L (4 C² + 4 C + (hidden + 1) C + ...) as in a GPT; time_indexed: one block and
/// m(F, h_mod, rows) a gate; tong: m(F, E_t, ..., E_t) + (E_t + 1) i·o + E_t o a generated map.
/// @return nothing for a family whose formula is not known here.
/// Source: first study, sections 2.1 to 2.4, and its published program.
std::optional<std::int64_t> closed_form_parameters(const ModelOptions& o);

}  // namespace depthgrid
