#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/arena.hpp"
#include "core/train/cell_optimizer.hpp"
#include "models/cell_language_model.hpp"
#include "models/model.hpp"

namespace depthgrid::testing {

/// A model over its own arena, seeded cell by cell.
struct Built {
  ModelOptions options;
  std::vector<std::uint64_t> seeds;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Model> model;

  Built(ModelOptions o, std::vector<std::uint64_t> cell_seeds, bool mixed = false)
      : options(std::move(o)), seeds(std::move(cell_seeds)) {
    ParameterLayout layout;
    Model(layout, options);
    arena = std::make_unique<Arena>(std::move(layout), seeds, at::kFloat, mixed);
    model = std::make_unique<Model>(*arena, options);
  }
};

/// Optimiser leaves of E cells.
inline TrainOptions small_training(std::vector<double> lr, std::vector<double> decay) {
  TrainOptions t;
  t.cells = static_cast<std::int64_t>(lr.size());
  t.optimizer = AdamKind::AdamW;
  t.steps = 1000;
  t.decays.fill(true);
  for (std::size_t e = 0; e < lr.size(); ++e) {
    t.beta1.push_back(0.9);
    t.beta2.push_back(0.999);
    t.eps.push_back(1e-8);
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
