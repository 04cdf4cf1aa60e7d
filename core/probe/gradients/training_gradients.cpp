#include "core/probe/gradients/training_gradients.hpp"

#include "core/base/nan.hpp"

namespace depthgrid {

TrainingGradients::TrainingGradients(std::size_t cells, std::int64_t layers, GradientBounds bounds)
    : layers_(layers), bounds_(bounds) {
  const auto n = static_cast<std::size_t>(layers);
  const std::vector<double> none(n, kNaN), zero(n, 0);
  cells_.assign(cells, {none, none, {zero, zero, 0}});
}

void TrainingGradients::step(std::size_t e, std::span<const double> norm,
                             std::span<const double> clipped, double factor) {
  Cell& cell = cells_.at(e);
  cell.norm.assign(norm.begin(), norm.end());
  cell.clipped.assign(clipped.begin(), clipped.end());
  for (std::size_t l = 0; l < norm.size(); ++l) {
    if (norm[l] < bounds_.vanish_below) cell.counts.vanished[l] += 1;
    if (norm[l] > bounds_.explode_above) cell.counts.exploded[l] += 1;
  }
  if (factor < 1) cell.counts.clipped += 1;
}

}  // namespace depthgrid
