#include "core/probe/lyapunov/benettin.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

double inner_product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Makes the rows orthonormal in order, and adds the logarithms of their distances to those before,
/// which are R's diagonal. Subtracts twice: once leaves an error of the vectors' condition.
void orthonormalise(std::span<double> rows, std::size_t n, std::vector<double>& logs) {
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const std::span<double> v = rows.subspan(i * n, n);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) {
        const std::span<const double> q = rows.subspan(j * n, n);
        const double part = inner_product(q, v);
        for (std::size_t c = 0; c < n; ++c) v[c] -= part * q[c];
      }
    }
    const double length = std::sqrt(inner_product(v, v));
    logs[i] += std::log(length);
    for (double& c : v) c = length == 0 ? 0 : c / length;
  }
}

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

std::vector<double> unit_basis(std::size_t k, std::size_t n) {
  std::vector<double> basis(k * n, 0.0);
  for (std::size_t i = 0; i < k; ++i) basis[i * n + i] = 1;
  return basis;
}

AsymptoticExponents benettin(const TangentStep& step, std::vector<double> x,
                             std::vector<double> basis, const BenettinOptions& o) {
  const std::size_t n = x.size(), k = n == 0 ? 0 : basis.size() / n;
  if (k == 0 || k > n || basis.size() != k * n) throw Error("benettin: k vectors of n, k <= n");
  if (o.steps < 1 || o.transient < 0 || o.interval < 1 || !(o.time > 0)) {
    throw Error("benettin: needs steps, an interval and a duration above 0");
  }
  std::vector<double> logs(k, 0.0);
  const auto follow = [&](std::int64_t steps) {
    std::ranges::fill(logs, 0.0);
    for (std::int64_t done = 0; done < steps;) {
      const std::int64_t next = std::min(steps, done + o.interval);
      for (; done < next; ++done) step(x, basis);
      orthonormalise(basis, n, logs);
    }
  };
  follow(o.transient);
  follow(o.steps);
  AsymptoticExponents out;
  const double duration = static_cast<double>(o.steps) * o.time;
  for (const double sum : logs) out.rate.push_back(sum / duration);
  const bool finite = std::ranges::none_of(out.rate, [](double v) { return std::isnan(v); }) &&
                      std::ranges::all_of(x, [](double v) { return std::isfinite(v); });
  const double fastest = *std::ranges::max_element(out.rate);
  const double limit = -0.5 * std::log(std::numeric_limits<double>::epsilon());
  for (double& rate : out.rate) {
    const double spread = (fastest - rate) * static_cast<double>(o.interval) * o.time;
    if (finite && spread <= limit) continue;
    out.resolved = false;
    rate = kNaN;
  }
  out.state = std::move(x);
  out.basis = std::move(basis);
  return out;
}

TangentStep runge_kutta_step(const Tableau& method, SmoothFlow flow, double h) {
  return AugmentedStep(method, std::move(flow), h);
}

}  // namespace depthgrid
