#include "worker/model/fused_model.hpp"

#include <algorithm>

#include <ATen/Parallel.h>

#include "core/train/control_batches.hpp"
#include "core/train/optimizer/optimizer_table.hpp"
#include "distributed/device_plugin.hpp"
#include "models/cost_model.hpp"

namespace depthgrid {

FusedModel::FusedModel(const std::vector<const CellConfig*>& cells, at::Device device,
                       GradientSync* team)
    : options(model_options(cells)), train(train_options(cells)) {
  options.device = device;
  arena = std::make_unique<Arena>(layout_of(options), train.model_seed,
                                  at::TensorOptions().dtype(at::kFloat).device(device),
                                  train.precision == Precision::Bf16);
  model = std::make_unique<Model>(*arena, options);
  language = std::make_unique<CellLanguageModel>(*model, train.model_seed);
  optimizer = std::make_unique<CellOptimizer>(
      *arena, train,
      device.is_cpu() ? nullptr
                      : make_device_kernels(segment_table(arena->layout(), train), train.optimizer,
                                            train.clip_scope, arena->cells()),
      OptimizerTeam{team, cells.front()->flag("resources.shard_optimizer")});
}

ParameterLayout layout_of(const ModelOptions& options) {
  ParameterLayout layout;
  Model(layout, options);
  return layout;
}

std::int64_t use_threads(const CellConfig& config) {
  const std::int64_t threads = config.integer_if("resources.threads").value_or(1);
  at::set_num_threads(static_cast<int>(threads));
  return threads;
}

std::int64_t automatic_fuse(const ModelOptions& options, std::int64_t rows, std::int64_t tokens,
                            at::Device device) {
  // The output of one sublayer should stay in a core's caches until the next one reads it; the
  // bound is measured for CPUs and a first guess for GPUs, see docs/performance.md.
  const double entries = static_cast<double>(rows * tokens * options.width);
  const double limit = device.is_cpu() ? 512.0 * 64 : 64.0 * 1024 * 256;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(limit / entries), 1, 64);
}

void set_memory(StructureCost& cost, const ModelOptions& options, const CellConfig& config) {
  std::int64_t rows = config.integer("train.batch_size") / config.integer("train.accumulation");
  // The passes of further terms are kept for one backward pass, as the first one is.
  const auto uses = [&](const char* term) { return config.real(term) > 0 ? 1 : 0; };
  const int passes = 2 * uses("train.control.contrastive") + uses("train.control.attribute") +
                     uses("train.control.anchor");
  rows += passes * std::min(rows, contrasted_rows(config));
  cost.fixed_bytes = 150e6;  // the program and its libraries
  cost.activation_bytes_per_cell = activation_bytes(options, rows, config.integer("data.seq_len"));
  // Values, gradients and moments; a bf16 copy where there is one.
  const auto moments =
      static_cast<double>(optimizer_row(config.word("train.optimizer")).moments.size());
  cost.moment_bytes_per_cell = 4 * moments * static_cast<double>(cost.parameters);
  const double per_parameter =
      4 * (2 + moments) + (config.word("train.precision") == "bf16" ? 2 : 0);
  const double start = 8 * uses("train.control.anchor");  // of the model that it keeps near to
  cost.bytes_per_cell = (per_parameter + start) * static_cast<double>(cost.parameters) +
                        cost.activation_bytes_per_cell;
}

}  // namespace depthgrid
