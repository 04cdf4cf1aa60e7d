#include "worker/bench/bench_model.hpp"

#include <utility>

#include "core/train/train_options.hpp"
#include "worker/bench/bench.hpp"
#include "worker/model/fused_model.hpp"

namespace depthgrid {
namespace {

ModelOptions on_device(const CellConfig& config, at::Device device) {
  ModelOptions out = model_options({&config});
  out.device = device;
  return out;
}

}  // namespace

BenchModel::BenchModel(const BenchCommand& command)
    : config(bench_cell(command)),
      bench(command.device, config),
      options(on_device(config, bench.device())),
      arena(layout_of(options), train_options({&config}).model_seed,
            at::TensorOptions().dtype(at::kFloat).device(bench.device()),
            /*mixed=*/config.word("train.precision") == "bf16"),
      model(arena, options) {}

}  // namespace depthgrid
