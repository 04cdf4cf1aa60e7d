#include "sweeps/queue/lowest_losses.hpp"

#include <cmath>

namespace depthgrid {

LowestLosses::Verdict LowestLosses::see(std::size_t e, std::int64_t step, double loss, double least,
                                        std::optional<std::int64_t> patience) {
  Cell& cell = cells_.at(e);
  if (std::isnan(cell.best) || loss < cell.best - least) {
    cell.best = loss;
    cell.improved.push_back(step);
    cell.since = 0;
    return Verdict::Better;
  }
  ++cell.since;
  return patience && cell.since >= *patience ? Verdict::OutOfPatience : Verdict::NotBetter;
}

}  // namespace depthgrid
