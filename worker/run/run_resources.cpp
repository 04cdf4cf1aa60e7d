#include "worker/run/run_resources.hpp"

#include <chrono>

#include <fmt/format.h>

#include <ATen/Context.h>

#include "core/base/log.hpp"
#include "core/base/version.hpp"
#include "distributed/agree.hpp"
#include "distributed/device_plugin.hpp"
#include "storage/files/publish.hpp"
#include "worker/process/provenance.hpp"

namespace depthgrid {
namespace {

/// Copies this process's log lines to the store from here on. @return the file's name.
std::string open_log(const Store& store) {
  const std::string name = log_name();
  make_folders(store.log_dir());
  log_to_file(store.log_dir() / name);
  return name;
}

int ranks_per_job(const CellConfig& run) {
  return run.is_word("resources.ranks_per_job")
             ? 1
             : static_cast<int>(run.integer("resources.ranks_per_job"));
}

}  // namespace

RunResources::RunResources(const RunOrder& order, const Sweep& sweep, const Store& store,
                           Collective& world, int local_rank, int local_size)
    : sweep_(sweep),
      store_(store),
      plan_(read_plan(store)),
      logs_{open_log(store)},
      device_(choose_device(sweep.run, world, local_rank, local_size)),
      threads_(choose_threads(sweep.run, warnings_)),
      team_(world, ranks_per_job(sweep.run)),
      data_(store),
      progress_(progress_style(order.progress),
                world.size() > 1 ? fmt::format("rank {}: ", world.rank()) : "", world.rank()) {
  // The first rank fills the token cache and pins digests; the others find both.
  const auto open_all = [&] {
    for (const CellPlan& cell : sweep.cells) data_.open(cell.config);
  };
  agree_on_first(world, open_all);
  agree(world, [&] {
    if (world.rank() != 0) open_all();
  });
  const bool deterministic = sweep.run.flag("train.deterministic");
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
  // Filling fresh memory with NaN costs a pass over every result; all of ours is overwritten.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  if (device().is_cuda() && team_.group().size() > 1) {
    nccl_ = make_nccl_collective(team_.group(), std::chrono::minutes(5));
  }
  sync_ = std::make_unique<BucketSync>(nccl_ ? *nccl_ : team_.group(), team_.group());
  quick_costs_ = depthgrid::quick_costs(sweep, device());
  costs_ = known_costs(sweep, quick_costs_);
  logs_ = gather_text(team_.group(), logs_.front());
  log_quietly(LogLevel::Info,
              fmt::format("depthgrid-worker {}: rank {} of {}, {}, sweep {} ({})", code_version(),
                          world.rank(), world.size(), device_.name, sweep.name, sweep.file));
}

RunContext RunResources::context(const AuditPermit& permit) {
  return {.sweep = sweep_,
          .store = store_,
          .plan = plan_,
          .data = data_,
          .sync = *sync_,
          .team = team_.group(),
          .progress = progress_,
          .device = device_.device,
          .device_name = device_.name,
          .threads = threads_,
          .costs = costs_,
          .permit = permit,
          .logs = logs_,
          .warnings = warnings_,
          .library_versions = library_versions_json(device_.device.is_cuda())};
}

}  // namespace depthgrid
