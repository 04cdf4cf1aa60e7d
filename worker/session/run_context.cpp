#include "worker/session/run_context.hpp"

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

/// NCCL among the GPUs of a team of several ranks; else null.
std::unique_ptr<Collective> nccl_of(Team& team, at::Device device) {
  const bool wanted = device.is_cuda() && team.group().size() > 1;
  return wanted ? make_nccl_collective(team.group(), std::chrono::minutes(5)) : nullptr;
}

/// The first rank fills the token cache and pins digests; the others find both.
DataPool opened_corpora(const Store& store, const Sweep& sweep, Collective& world) {
  DataPool data(store);
  const auto open_all = [&] {
    for (const CellPlan& cell : sweep.cells) data.open(cell.config);
  };
  agree_on_first(world, open_all);
  agree(world, [&] {
    if (world.rank() != 0) open_all();
  });
  return data;
}

}  // namespace

RunContext::RunContext(const RunOrder& order, const Sweep& sweep_, const Store& store_,
                       Collective& world, int local_rank, int local_size)
    : sweep(sweep_),
      store(store_),
      plan(stored_plan(sweep)),
      logs{open_log(store)},
      device(choose_device(sweep.run, world, local_rank, local_size)),
      threads(choose_threads(sweep.run, warnings)),
      team(world, ranks_per_job(sweep.run)),
      data(opened_corpora(store, sweep, world)),
      nccl(nccl_of(team, device.device)),
      sync(nccl ? *nccl : team.group(), team.group()),
      progress(progress_style(order.progress),
               world.size() > 1 ? fmt::format("rank {}: ", world.rank()) : "", world.rank()),
      quick_costs(depthgrid::quick_costs(sweep, device.device)),
      costs(known_costs(sweep, quick_costs)),
      library_versions(library_versions_json(device.device.is_cuda())) {
  logs = gather_text(team.group(), logs.front());
  const bool deterministic = sweep.run.flag("train.deterministic");
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
  // Filling fresh memory with NaN costs a pass over every result; all of ours is overwritten.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  log_quietly(LogLevel::Info,
              fmt::format("depthgrid-worker {}: rank {} of {}, {}, sweep {} ({})", code_version(),
                          world.rank(), world.size(), device.name, sweep.name, sweep.file));
}

}  // namespace depthgrid
