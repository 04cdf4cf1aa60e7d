#include "sweeps/queue/lowest_loss.hpp"

#include <cmath>

namespace depthgrid {

bool LowestLoss::see(std::int64_t step, double loss, double least,
                     std::optional<std::int64_t> patience) {
  if (step > 0 && (std::isnan(best) || loss < best)) {
    best = loss;
    improved.push_back(step);
  }
  if (std::isnan(margin_below) || loss < margin_below - least) {
    margin_below = loss;
    patient_since = step;
    since = 0;
    return false;
  }
  ++since;
  return patience && since >= *patience;
}

}  // namespace depthgrid
