#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/options/model_options.hpp"

namespace depthgrid {

/// Number of blocks with parameters of their own, axis `layer`: shared weights have one, a flow is
/// one.
std::int64_t layer_count(const ModelOptions& options);

/// Block to which a parameter belongs, by its name, networks included that make the block's weights
/// from depth-time; none for embedding, readout and what several blocks have in common.
std::optional<std::int64_t> layer_of(const ModelOptions& options, std::string_view parameter);

}  // namespace depthgrid
