#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "worker/weights/safetensors_file.hpp"

namespace depthgrid {

/// Where one parameter of a model stands in a file of weights.
struct WeightPlace {
  std::string name;         // in the file
  std::string parameter;    // in the layout
  bool transposed = false;  // (in, out) in the file, (out, in) here
};

/// Names of `depthgrid export --layout native`: those of the parameters.
std::vector<WeightPlace> native_places(const ParameterLayout& layout);

/// Shape of a parameter in a file: without the 1 that leads a bias.
std::vector<std::int64_t> file_shape(const WeightPlace& place, const ParameterLayout& layout);

/// Parameters of cell e, in the order of `places`.
std::vector<std::pair<std::string, at::Tensor>> weights_of(Arena& arena, std::int64_t e,
                                                           const std::vector<WeightPlace>& places);

/// Sets all parameters of cell e from a file; refresh the arena's shadow afterwards.
/// @param ignored  names that may be in the file and mean nothing here.
/// Parameters of added modules that the file lacks keep what they have drawn. @return  their names.
/// @throws UserError (BadData) that lists every missing and every superfluous name, every other
///         shape, every type that is no floating-point number and every parameter that several
///         places would set; nothing is set then.
std::vector<std::string> load_weights(Arena& arena, std::int64_t e,
                                      const std::vector<WeightPlace>& places,
                                      const SafetensorsFile& file,
                                      const std::vector<std::string>& ignored = {});

}  // namespace depthgrid
