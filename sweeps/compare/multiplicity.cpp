#include "sweeps/compare/multiplicity.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace depthgrid {

std::size_t family_size(std::span<const double> p) {
  return static_cast<std::size_t>(
      std::ranges::count_if(p, [](double x) { return !std::isnan(x); }));
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (std::isnan(p[i])) continue;
    if (p[i] < 0 || p[i] > 1) throw Error("a p is not between 0 and 1");
    order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size(), kNaN);
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, static_cast<double>(order.size() - rank) * p[order[rank]]);
    adjusted[order[rank]] = std::min(1.0, largest);
  }
  return adjusted;
}

double simultaneous_confidence(std::size_t m, double confidence) {
  return 1 - (1 - confidence) / static_cast<double>(std::max<std::size_t>(m, 1));
}

std::vector<ConfidenceLimits> simultaneous_intervals(std::span<const PairedContrast> contrasts,
                                                     double confidence) {
  std::vector<double> p;
  for (const PairedContrast& contrast : contrasts) p.push_back(contrast.p);
  const double single = simultaneous_confidence(family_size(p), confidence);
  std::vector<ConfidenceLimits> out;
  for (const PairedContrast& contrast : contrasts) out.push_back(t_interval(contrast, single));
  return out;
}

ContrastVerdict contrast_verdict(double holm_p, double equivalence_p, double alpha) {
  if (equivalence_p < alpha) return ContrastVerdict::NoEffect;
  if (holm_p < alpha) return ContrastVerdict::Differs;
  return ContrastVerdict::Undecided;
}

std::string_view contrast_verdict_text(ContrastVerdict verdict) {
  switch (verdict) {
    case ContrastVerdict::NoEffect:
      return "no effect beyond δ";
    case ContrastVerdict::Differs:
      return "differs";
    case ContrastVerdict::Undecided:
      break;
  }
  return "undecided";
}

}  // namespace depthgrid
