#include "sweeps/queue/lowest_loss.hpp"

#include <cmath>

namespace depthgrid {

LowestLoss::Verdict LowestLoss::see(std::int64_t step, double loss, double least,
                                    std::optional<std::int64_t> patience) {
  if (std::isnan(best) || loss < best - least) {
    best = loss;
    improved.push_back(step);
    since = 0;
    return Verdict::Better;
  }
  ++since;
  return patience && since >= *patience ? Verdict::OutOfPatience : Verdict::NotBetter;
}

}  // namespace depthgrid
