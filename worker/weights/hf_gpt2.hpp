#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/options/model_options.hpp"
#include "worker/weights/weight_places.hpp"

namespace depthgrid {

/// Reasons why cell e of a model is not a GPT2LMHeadModel of the package transformers, each with
/// its leaf; empty if it is one.
std::vector<std::string> hf_gpt2_obstacles(const ModelOptions& o, std::size_t e);

/// Names and orientation of GPT2LMHeadModel's parameters: products are x W there (Conv1D), so the
/// weights of the blocks are transposed; the head is not, and is absent if it is tied. Weights
/// shared by layers are repeated for each layer.
std::vector<WeightPlace> hf_gpt2_places(const ModelOptions& o, const ParameterLayout& layout);

/// Text of its config.json. @param e  the cell whose norm_eps and dropout it contains.
std::string hf_gpt2_config(const ModelOptions& o, std::size_t e);

/// Differences between a config.json and cell e of this model, each with both values.
/// @throws StorageError (BadData) if the text is not such a configuration.
std::vector<std::string> hf_gpt2_differences(const ModelOptions& o, std::size_t e,
                                             const std::filesystem::path& config);

/// hf_gpt2_places() with the names in `file`, which may omit "transformer." and contain masks and a
/// copy of a tied head. @param ignored  receives the names of the masks and the copy.
std::vector<WeightPlace> hf_gpt2_places_in(const SafetensorsFile& file, const ModelOptions& o,
                                           const ParameterLayout& layout,
                                           std::vector<std::string>& ignored);

}  // namespace depthgrid
