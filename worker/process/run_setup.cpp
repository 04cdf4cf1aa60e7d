#include "worker/process/run_setup.hpp"

#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "distributed/device_map.hpp"
#include "distributed/device_plugin.hpp"
#include "models/cost_model.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/provenance.hpp"

namespace depthgrid {
namespace {

// One core of 2024, forward. The ratios of times matter here, not their size: for the order of jobs
// and the remaining time. In small models the passes over activations take longer than the products
// (`depthgrid bench step` at d_model 16 … 128).
constexpr double kSecondsPerFlop = 1.1e-11;
constexpr double kSecondsPerToken = 1e-6, kSecondsPerTokenAndLayer = 2.7e-7;

}  // namespace

DeviceChoice choose_device(const CellConfig& run, Collective& world, int local_rank,
                           int local_size) {
  const std::string& wanted = run.word("resources.device");
  const std::optional<std::int64_t> gpus = run.integer_if("resources.gpus");
  int devices = wanted == "cpu" || gpus == 0 ? 0 : device_count();
  if (devices > 1 && gpus) devices = std::min(devices, static_cast<int>(*gpus));
  if (devices == 0) {
    if (wanted == "cuda") {
      throw UserError(ExitCode::BadConfig,
                      "resources.device is cuda, but no GPU answers (or this build has no GPU "
                      "plug-in); use resources.device: cpu or auto");
    }
    return {at::kCPU, "cpu (" + cpu_model() + ")"};
  }
  const int index = device_for(devices, local_rank, local_size).value();
  const std::string bus = use_device(index);
  expect_distinct_devices(world, bus);
  return {at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index)), "cuda " + bus};
}

std::int64_t choose_threads(const CellConfig& run, std::vector<std::string>& warnings) {
  const std::int64_t threads = use_threads(run);
  if (const auto warning = affinity_warning(usable_cpus(), static_cast<int>(threads))) {
    log(LogLevel::Warning, *warning);
    warnings.push_back(*warning);
  }
  return threads;
}

CostTable quick_costs(const Sweep& sweep, at::Device device) {
  CostTable costs;
  for (const CellPlan& cell : sweep.cells) {
    if (costs.contains(cell.structure)) continue;
    const ModelOptions o = model_options({&cell.config});
    const std::int64_t tokens = cell.config.integer("data.seq_len");
    const std::int64_t batch = cell.config.integer("train.batch_size");
    StructureCost cost;
    cost.structure = cell.structure;
    cost.parameters = layout_of(o).size();
    cost.flops_per_token =
        flops_per_token(o, batch / cell.config.integer("train.accumulation"), tokens);
    cost.max_fused = automatic_fuse(o, batch, tokens, device);
    set_memory(cost, o, cell.config);
    const double forward = kSecondsPerFlop * cost.flops_per_token + kSecondsPerToken +
                           kSecondsPerTokenAndLayer * static_cast<double>(o.depth_steps());
    cost.seconds_per_cell_step = 3 * forward * static_cast<double>(batch * tokens);
    cost.seconds_per_eval_token = forward;
    costs.emplace(cell.structure, cost);
  }
  return costs;
}

CostTable known_costs(const Sweep& sweep, const CostTable& quick) {
  CostTable costs = DescribeCache().known(sweep.cells);
  costs.insert(quick.begin(), quick.end());  // keeps what is there
  return costs;
}

}  // namespace depthgrid
