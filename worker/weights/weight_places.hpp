#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "worker/weights/safetensors.hpp"

namespace depthgrid {

/// The place of one parameter of a model in a file of weights.
struct WeightPlace {
  std::string name;         // in the file
  std::string parameter;    // in the layout
  bool transposed = false;  // (in, out) in the file, (out, in) here
};

/// Places in the layout `native` of `depthgrid export`: the names are those of the parameters.
std::vector<WeightPlace> native_places(const ParameterLayout& layout);

/// Shape of a parameter in a file: without the leading 1 of a bias.
std::vector<std::int64_t> file_shape(const WeightPlace& place, const ParameterLayout& layout);

/// Parameters of cell e, in the order of `places`.
std::vector<std::pair<std::string, at::Tensor>> weights_of(Arena& arena, std::int64_t e,
                                                           const std::vector<WeightPlace>& places);

/// Sets all parameters of cell e from a file; refresh the arena's shadow afterwards. Parameters of
/// added modules that the file lacks keep their random initial values.
/// @param ignored  names in the file that have no meaning here.
/// @return  names of the parameters that the file lacks.
/// @throws UserError (BadData) that lists all missing and superfluous names, different shapes,
///         types that are not floating-point, and parameters set by more than one place; in that
///         case nothing is set.
std::vector<std::string> load_weights(Arena& arena, std::int64_t e,
                                      const std::vector<WeightPlace>& places,
                                      const SafetensorsFile& file,
                                      const std::vector<std::string>& ignored = {});

}  // namespace depthgrid
