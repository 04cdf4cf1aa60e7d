#include "worker/model/stored_model.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/text_parts.hpp"
#include "core/config/axis_labels.hpp"
#include "core/config/schema.hpp"
#include "core/depth/stepper.hpp"
#include "core/train/train_options.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/queue/checkpoint_policy.hpp"
#include "worker/model/fused_model.hpp"

namespace depthgrid {
namespace {

StoredCell cell_of(const StoredPlan& plan, const CellId& id) {
  const auto at = std::ranges::find(plan.cells, id, &StoredCell::id);
  if (at == plan.cells.end()) {
    throw UserError(ExitCode::Usage, "the store has no cell " + id);
  }
  return *at;
}

/// Step of the lowest dev loss according to the cell's result.
std::int64_t best_step(const Store& store, const CellId& id) {
  if (!store.completed(id)) {
    throw UserError(ExitCode::NoInput,
                    "--at best: cell " + id + " has no result yet; name a step, or --at final");
  }
  const TableReader result(store.cell_path(id) / "result.h5", store.fs());
  const auto dev = static_cast<std::size_t>(Split::Dev);
  const std::int64_t step = result.has("best_step") ? result.read("best_step").integer(dev) : -1;
  if (step < 0) {
    throw UserError(ExitCode::NoInput,
                    "--at best: cell " + id + " was not evaluated on the split dev");
  }
  if (step == 0) {
    throw UserError(ExitCode::NoInput,
                    "--at best: the loss of cell " + id +
                        " was lowest before its first step, and no checkpoint holds these weights; "
                        "name a step, or --at final");
  }
  return step;
}

/// The last step that a finished cell made; -1 while it has no result.
std::int64_t last_step(const Store& store, const CellId& id) {
  if (!store.completed(id)) return -1;
  const TableReader result(store.cell_path(id) / "result.h5", store.fs());
  return result.has("stopped_at") ? result.read("stopped_at").integer(0) : -1;
}

LoadedCheckpoint checkpoint_of(const Store& store, const StoredCell& cell,
                               const CellChoice& choice) {
  const std::filesystem::path folder = store.cell_path(choice.cell);
  std::vector<std::int64_t> steps;  // newest first
  for (const CheckpointFile& file : list_checkpoints(folder, store.fs())) {
    if (steps.empty() || steps.back() != file.step) steps.push_back(file.step);
  }
  if (steps.empty()) {
    throw UserError(ExitCode::NoInput, "cell " + choice.cell +
                                           " has no checkpoint: it is not trained yet, or none was "
                                           "kept (checkpoint.keep_final keeps that "
                                           "of the last step)");
  }
  std::int64_t step = steps.front();
  if (choice.at == "final") {
    // An earlier one would pass for the trained cell. A later one has its weights: of a cell that
    // stopped before its neighbours.
    step = std::max(step, last_step(store, choice.cell));
  } else if (choice.at == "best") {
    step = best_step(store, choice.cell);
  } else {
    const auto number = parse_number<std::int64_t>(choice.at);
    if (!number) {
      throw UserError(
          ExitCode::Usage,
          "--at " + choice.at + ": it is final, best or the number of a step (with probe: or all)");
    }
    step = *number;
  }
  std::optional<LoadedCheckpoint> found =
      checkpoint_at(folder, config_digest(cell.changed), step, store.fs());
  if (!found) {
    throw UserError(ExitCode::NoInput,
                    fmt::format("cell {} has no intact checkpoint of step {}; there are: {}",
                                choice.cell, step, fmt::join(steps, ", ")));
  }
  return std::move(*found);
}

/// Whether other steps of another method solve the same equation with the same weights.
bool solvable(const ModelOptions& o) {
  if (o.flow.replaced() > 0) return o.flow.field != FieldKind::Block;
  return o.timed() && o.shared() && o.sublayers == Sublayers::Parallel &&
         o.control.layers.empty() && o.residual.kind != ScaleKind::LearnedPerLayer &&
         std::ranges::count(o.time.nodes, Nodes::Right) == 0;
}

/// @throws UserError (Usage) if this cell has no flow, or there is no such method.
void solve_by(const CellChoice& choice, const std::string& alias, ModelOptions& o) {
  if (choice.solver_steps == 0 && choice.solver_method.empty()) return;
  if (!solvable(o)) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--solver-steps and --solver-method are of a flow, which {} has "
                                "not: it takes a family hybrid_ode with a field other than block, "
                                "or time_indexed or tong with model.time.nodes: left and parallel "
                                "sublayers",
                                alias));
  }
  if (choice.solver_steps > 0) o.solver.steps = choice.solver_steps;
  if (choice.solver_method.empty()) return;
  const std::string known(schema()[leaf_index("model.solver.method")].words);
  if (std::ranges::count(text_words(known), choice.solver_method) == 0) {
    throw UserError(ExitCode::Usage, fmt::format("--solver-method {}: expected one of {}",
                                                 choice.solver_method, known));
  }
  o.solver.method = &stepper(choice.solver_method);
}

bool is_solved(const ModelOptions& o) {
  return o.solved() || (o.flow.replaced() > 0 && o.flow.field != FieldKind::Block);
}

}  // namespace

nlohmann::ordered_json solver_json(const ModelOptions& o) {
  if (!is_solved(o)) return nullptr;
  return {{"method", o.solver.method->name()}, {"steps", o.solver.steps}};
}

std::string solver_text(const ModelOptions& o) {
  if (!is_solved(o)) return "";
  return fmt::format(" in {} steps of {}", o.solver.steps, o.solver.method->name());
}

void require_axes(const std::vector<double>& u, const ModelOptions& o) {
  const std::int64_t axes = o.control.axes;
  if (axes == 0) {
    throw UserError(ExitCode::Usage,
                    "--control: this cell has no control input; cells with model.control.dim above "
                    "0 have one");
  }
  if (static_cast<std::int64_t>(u.size()) != axes) {
    throw UserError(ExitCode::Usage,
                    fmt::format("--control has {} numbers; the cell's control input has {} axes "
                                "(model.control.dim)",
                                u.size(), axes));
  }
}

std::int64_t stored_step(const CellChoice& choice) {
  const Store store = Store::open(choice.store);
  return checkpoint_of(store, cell_of(read_plan(store), choice.cell), choice).step;
}

StoredModel::StoredModel(const CellChoice& choice) : store(Store::open(choice.store)) {
  const StoredPlan plan = read_plan(store);
  cell = cell_of(plan, choice.cell);
  config = resolved_config(plan, cell);
  const LoadedCheckpoint state = checkpoint_of(store, cell, choice);
  step = state.step;
  use_threads(config);
  options = model_options({&config});
  solve_by(choice, cell.alias, options);
  if (!choice.control.empty()) {
    require_axes(choice.control, options);
    options.control.constant = {choice.control};
  }
  const TrainOptions train = train_options({&config});
  arena = std::make_unique<Arena>(layout_of(options), train.model_seed, at::kFloat,
                                  train.precision == Precision::Bf16);
  model = std::make_unique<Model>(*arena, options);
  language = std::make_unique<CellLanguageModel>(*model, train.model_seed);
  const auto weights = std::ranges::find(state.tensors, "parameters", &LoadedTensor::name);
  if (weights == state.tensors.end() ||
      static_cast<std::int64_t>(weights->data.size()) != arena->size()) {
    throw UserError(ExitCode::BadData, fmt::format("the checkpoint of step {} does not hold the {} "
                                                   "parameters of this model",
                                                   step, arena->size()));
  }
  const at::NoGradGuard no_grad;
  arena->values()[0].copy_(
      at::from_blob(const_cast<float*>(weights->data.data()), {arena->size()}, at::kFloat));
  arena->refresh_shadow();
}

}  // namespace depthgrid
