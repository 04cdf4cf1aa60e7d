#include "core/probe/lyapunov/benettin.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace depthgrid
