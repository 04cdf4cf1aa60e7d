#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn_like.h>

#include "core/train/cell_optimizer.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/cell_language_model.hpp"
#include "models/model.hpp"

namespace depthgrid::testing {

/// A model over its own arena, seeded cell by cell.
struct Built {
  ModelOptions options;
  std::vector<std::uint64_t> seeds;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Model> model;

  Built(ModelOptions o, std::vector<std::uint64_t> cell_seeds, bool mixed = false,
        at::ScalarType type = at::kFloat)
      : options(std::move(o)), seeds(std::move(cell_seeds)) {
    ParameterLayout layout;
    Model(layout, options);
    arena = std::make_unique<Arena>(std::move(layout), seeds, type, mixed);
    model = std::make_unique<Model>(*arena, options);
  }

  at::Tensor parameter(const std::string& name) const {
    return slot_view(arena->values(), arena->layout().find(name));
  }
};

/// 3, 4, …
inline std::vector<std::uint64_t> seeds_of(const ModelOptions& o) {
  std::vector<std::uint64_t> seeds(static_cast<std::size_t>(o.cells));
  std::iota(seeds.begin(), seeds.end(), 3);
  return seeds;
}

/// A model in any precision, its parameters moved away from where they start.
inline Built built_and_moved(const ModelOptions& o, at::ScalarType type, bool mixed = false) {
  Built out(o, seeds_of(o), mixed, type);
  const at::NoGradGuard no_grad;
  out.arena->values().add_(at::randn_like(out.arena->values()) * 0.05);
  out.arena->refresh_shadow();
  return out;
}

/// Optimiser leaves of E cells.
inline TrainOptions small_training(std::vector<double> lr, std::vector<double> decay) {
  TrainOptions t;
  t.cells = static_cast<std::int64_t>(lr.size());
  t.optimizer = "adamw";
  t.steps = 1000;
  for (const double scalar : {0.9, 0.999, 1e-8}) t.scalars.emplace_back(lr.size(), scalar);
  for (std::size_t e = 0; e < lr.size(); ++e) {
    t.clip.push_back(1.0);
    t.loss_scale.push_back(1);
    t.schedule.emplace_back().steps = 1000;
    for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
      t.lr.push_back(lr[e]);
      t.weight_decay.push_back(decay[e]);
    }
  }
  return t;
}

}  // namespace depthgrid::testing
