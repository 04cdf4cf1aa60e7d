#include "models/wide_model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/grad_mode.h>

namespace depthgrid {
namespace {

/// Space for the same parameters in float64.
Arena widened(const Arena& from, const ModelOptions& o) {
  const auto cells = static_cast<std::size_t>(from.cells());
  return {from.layout(), std::vector<std::uint64_t>(cells),
          at::TensorOptions(at::kDouble).device(o.device)};
}

}  // namespace

WideModel::WideModel(const Model& model, const Arena& arena)
    : arena_(widened(arena, model.options())), model_(arena_, model.options()) {
  const at::NoGradGuard no_grad;
  arena_.values().copy_(arena.values());  // over what the model has initialised
}

}  // namespace depthgrid
