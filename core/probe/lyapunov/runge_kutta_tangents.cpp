#include "core/probe/lyapunov/runge_kutta_tangents.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace depthgrid {
namespace {

/// State and tangent vectors side by side: rows of n, the state first.
class AugmentedStep {
 public:
  AugmentedStep(const Tableau& method, SmoothFlow flow, double h)
      : method_(method), flow_(std::move(flow)), h_(h), slopes_(method.stages) {}

  void operator()(std::span<double> x, std::span<double> tangents) {
    const std::size_t n = x.size(), all = n + tangents.size();
    start_.assign(x.begin(), x.end());
    start_.insert(start_.end(), tangents.begin(), tangents.end());
    for (std::size_t s = 0; s < method_.stages; ++s) {
      at_ = start_;
      add(method_.a[s], s);
      slopes_[s].resize(all);
      const std::span<const double> y(at_);
      const std::span<double> k(slopes_[s]);
      flow_.field(y.first(n), k.first(n));
      for (std::size_t i = n; i < all; i += n) {
        flow_.tangent(y.first(n), y.subspan(i, n), k.subspan(i, n));
      }
    }
    at_ = start_;
    add(method_.b, method_.stages);
    for (std::size_t i = 0; i < n; ++i) x[i] = at_[i];
    for (std::size_t i = n; i < all; ++i) tangents[i - n] = at_[i];
  }

 private:
  /// at <- at + h Σ w_j k_j over the first `stages` slopes
  void add(const std::array<double, Tableau::kMaxStages>& w, std::size_t stages) {
    for (std::size_t j = 0; j < stages; ++j) {
      if (w[j] == 0) continue;
      for (std::size_t i = 0; i < at_.size(); ++i) at_[i] += h_ * w[j] * slopes_[j][i];
    }
  }

  const Tableau& method_;
  SmoothFlow flow_;
  double h_;
  std::vector<double> start_, at_;
  std::vector<std::vector<double>> slopes_;
};

}  // namespace

TangentStep runge_kutta_step(const Tableau& method, SmoothFlow flow, double h) {
  return AugmentedStep(method, std::move(flow), h);
}

}  // namespace depthgrid
