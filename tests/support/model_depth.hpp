#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>

#include "core/probe/lyapunov/tangent_map.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {

/// The depth of a model, H_0 to H_L, with or without kernels; layers that may skip tokens execute
/// all of them.
class ModelDepth {
 public:
  explicit ModelDepth(const ModelCase& one, at::ScalarType type, std::int64_t cells = 2,
                      std::int64_t sequences = 3, std::int64_t tokens = 9) {
    ModelOptions o = small_options(one.family, cells);
    one.change(o);
    built_ = std::make_unique<Built>(built_and_moved(o, type));
    tokens_ = at::randint(0, o.vocabulary, {cells, sequences, tokens}, at::kLong);
  }

  const Built& built() const { return *built_; }

  at::Tensor start() const {
    const at::NoGradGuard no_grad;
    return built_->model->embed(tokens_).clone();
  }

  /// State after all steps. @param only  a single step of all; -1: all
  at::Tensor run(const at::Tensor& x0, bool composed, std::int64_t only = -1) const {
    const ForwardContext context{.composed = composed,
                                 .execution = Execution{ExecutionMode::Dense, {}, {}, {}}};
    at::Tensor x = x0;
    for (const DepthSegment& segment : built_->model->segments(context)) {
      const DepthGrid& all = segment.grid;
      const bool inside = only >= all.first && only < all.first + all.steps();
      if (only >= 0 && !inside) continue;
      const DepthGrid grid = only < 0 ? all : all.piece(only - all.first, 1, only);
      x = segment.method->solve(*segment.field, grid, x, {});
    }
    return x;
  }

  StateMap map(bool composed, std::int64_t only = -1) const {
    return [this, composed, only](const at::Tensor& x) { return run(x, composed, only); };
  }

 private:
  std::unique_ptr<Built> built_;
  at::Tensor tokens_;
};

}  // namespace depthgrid::testing
