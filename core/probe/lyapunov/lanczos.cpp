#include "core/probe/lyapunov/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

/// The Krylov space of one cell and sequence. Plain loops: their order is that of the entries.
class KrylovSpace {
 public:
  /// @param start  not zero.
  explicit KrylovSpace(std::span<const double> start) {
    basis_.emplace_back(start.begin(), start.end());
    normalise(basis_.back());
  }

  bool open() const { return open_; }
  const std::vector<double>& newest() const { return basis_.back(); }

  /// @param image  the map's value at newest().
  void extend(std::span<const double> image) {
    std::vector<double> next(image.begin(), image.end());
    diagonal_.push_back(inner(basis_.back(), next));
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<double>& v : basis_) {
        const double part = inner(v, next);
        for (std::size_t i = 0; i < next.size(); ++i) next[i] -= part * v[i];
      }
    }
    const double size = std::sqrt(inner(image, image)), rest = normalise(next);
    sound_ = sound_ && std::isfinite(size);
    // What is left of an invariant space is rounding.
    open_ = sound_ && rest > 1e-12 * size && basis_.size() < next.size();
    if (!open_) return;
    beside_.push_back(rest);
    basis_.push_back(std::move(next));
  }

  double largest() const {
    if (!sound_) return kNaN;
    const auto n = static_cast<std::int64_t>(diagonal_.size());
    const at::Tensor t = at::zeros({n, n}, at::kDouble);
    auto entries = t.accessor<double, 2>();
    for (std::int64_t i = 0; i < n; ++i) {
      entries[i][i] = diagonal_[static_cast<std::size_t>(i)];
      if (i > 0) entries[i][i - 1] = beside_[static_cast<std::size_t>(i - 1)];
    }
    return at::linalg_eigvalsh(t, "L")[n - 1].item<double>();
  }

 private:
  static double inner(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  static double normalise(std::vector<double>& v) {
    const double length = std::sqrt(inner(v, v));
    for (double& c : v) c /= length;
    return length;
  }

  std::vector<std::vector<double>> basis_;
  std::vector<double> diagonal_, beside_;
  bool open_ = true, sound_ = true;
};

std::span<double> row_of(const at::Tensor& rows, std::size_t i) {
  const auto n = static_cast<std::size_t>(rows.size(-1));
  return {rows.mutable_data_ptr<double>() + i * n, n};
}

}  // namespace

at::Tensor largest_eigenvalue(const std::function<at::Tensor(const at::Tensor&)>& symmetric,
                              at::IntArrayRef state, const DirectionDraw& draw,
                              std::int64_t steps) {
  at::Tensor rows = normal_directions(state, 1, draw);  // (E, B, 1, N)
  std::vector<KrylovSpace> spaces;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state[0] * state[1]); ++i) {
    spaces.emplace_back(row_of(rows, i));
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      if (spaces[i].open()) std::ranges::copy(spaces[i].newest(), row_of(rows, i).begin());
    }
    const at::Tensor images = each_direction(symmetric, state, rows);
    for (std::size_t i = 0; i < spaces.size(); ++i) {
      if (spaces[i].open()) spaces[i].extend(row_of(images, i));
    }
  }
  const at::Tensor out = at::empty({state[0], state[1]}, at::kDouble);
  std::ranges::transform(spaces, out.mutable_data_ptr<double>(),
                         [](const KrylovSpace& space) { return space.largest(); });
  return out;
}

at::Tensor log_norm(const TangentMap& map, const DirectionDraw& draw, std::int64_t steps) {
  return largest_eigenvalue(
      [&](const at::Tensor& v) { return (map.forward(v) + map.transposed(v)) * 0.5; }, map.sizes(),
      draw, steps);
}

at::Tensor largest_log_stretch(const TangentMap& map, const DirectionDraw& draw,
                               std::int64_t steps) {
  return largest_eigenvalue([&](const at::Tensor& v) { return map.transposed(map.forward(v)); },
                            map.sizes(), draw, steps)
             .log() *
         0.5;
}

}  // namespace depthgrid
