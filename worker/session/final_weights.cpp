#include "worker/session/final_weights.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/start_name.hpp"
#include "models/options/model_options.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "sweeps/queue/checkpoint_policy.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/weights/exported_config.hpp"

namespace depthgrid {

std::string last_weights_digest(const Store& store, const CellId& id) {
  return TableReader(store.cell_path(id) / "result.h5", store.fs()).read("weights_sha256").text(0);
}

FinalWeights final_weights(const Store& store, const StoredPlan& plan, const CellId& id) {
  const auto at = std::ranges::find(plan.cells, id, &StoredCell::id);
  if (at == plan.cells.end()) throw Error("the store has no cell " + id + " to start from");
  const auto unusable = [&](const std::string& why) {
    return Error(fmt::format("cannot start from {} ({}): {}", at->alias, id, why));
  };
  const std::filesystem::path folder = store.cell_path(id);
  const std::vector<CheckpointFile> files = list_checkpoints(folder, store.fs());
  if (files.empty()) throw unusable("it has no checkpoint any more");
  auto state = checkpoint_at(folder, config_digest(at->changed), files.front().step, store.fs());
  if (!state) throw unusable("the checkpoint of its last step is damaged");
  const auto tensor = std::ranges::find(state->tensors, "parameters", &LoadedTensor::name);
  FinalWeights out;
  out.cell = *at;
  out.step = state->step;
  const CellConfig config = resolved_config(plan, *at);
  const ModelOptions options = model_options({&config});
  out.layout = layout_of(options);
  out.signalled = signalled_axes(config, [&](const CellId& earlier) {
    const auto found = std::ranges::find(plan.cells, earlier, &StoredCell::id);
    if (found == plan.cells.end()) throw Error("the store has no cell " + earlier);
    return resolved_config(plan, *found);
  });
  if (tensor == state->tensors.end() ||
      static_cast<std::int64_t>(tensor->data.size()) != out.layout.size()) {
    throw unusable("its checkpoint holds another number of parameters");
  }
  out.values = std::move(tensor->data);
  out.sha256 = hex(sha256(std::as_bytes(std::span(out.values))));
  if (out.sha256 != last_weights_digest(store, id)) {
    throw unusable(
        fmt::format("the checkpoint of step {} does not hold its last weights", out.step));
  }
  return out;
}

std::vector<bool> signalled_axes(const CellConfig& config,
                                 const std::function<CellConfig(const CellId&)>& start) {
  std::vector<bool> out(static_cast<std::size_t>(config.integer("model.control.dim")));
  if (config.word("train.task") != "lm") {
    out.assign(out.size(), true);
    return out;
  }
  const auto* u = config.at("model.control.u").get_if<ValueList>();
  for (std::size_t k = 0; u != nullptr && k < std::min(u->size(), out.size()); ++k) {
    out[k] = (*u)[k].number() != 0;
  }
  if (config.null("model.init.from")) return out;
  std::vector<bool> before(out.size(), true);
  if (const auto id = start_cell(config)) {
    before = signalled_axes(start(*id), start);
  } else if (const auto file = exported_config(config.word("model.init.from"))) {
    before = signalled_axes(*file, start);
  }
  for (std::size_t k = 0; k < std::min(before.size(), out.size()); ++k) {
    out[k] = out[k] || before[k];
  }
  return out;
}

std::vector<TensorInfo> tensor_infos(const ParameterLayout& layout) {
  std::vector<TensorInfo> out;
  for (const ParameterSlot& slot : layout.slots()) {
    out.push_back({slot.spec.name, slot.spec.shape, std::string(name_of(slot.spec.group))});
  }
  return out;
}

}  // namespace depthgrid
