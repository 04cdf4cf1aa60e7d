#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/config/cell_config.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/cell_language_model.hpp"
#include "models/model.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// The model of one cell of a store with the weights of one of its checkpoints, on the CPU; E = 1.
/// Does not change the store.
struct StoredModel {
  /// @throws UserError if there is no such cell (Usage), no such checkpoint (Usage, NoInput; the
  ///         message lists the available ones), or it does not fit the model (BadData).
  explicit StoredModel(const CellChoice& choice);

  Store store;
  StoredCell cell;
  CellConfig config;
  std::int64_t step = 0;  // optimiser steps done
  ModelOptions options;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Model> model;
  std::unique_ptr<CellLanguageModel> language;
};

/// How a flow, or a depth that is solved as one, is integrated: {"method": …, "steps": …}; null for
/// layers.
nlohmann::ordered_json solver_json(const ModelOptions& o);

/// The same behind what a text says of a cell: " in 8 steps of rk4"; nothing for layers.
std::string solver_text(const ModelOptions& o);

/// @throws UserError (Usage) unless the model's control input has as many axes as `--control` has
/// numbers.
void require_axes(const std::vector<double>& u, const ModelOptions& o);

/// Optimiser steps done at that checkpoint, without its model. @throws UserError as StoredModel.
std::int64_t stored_step(const CellChoice& choice);

}  // namespace depthgrid
