#include "worker/session/run_context.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <ATen/Context.h>

#include "core/base/log.hpp"
#include "core/base/terminal.hpp"
#include "core/base/version.hpp"
#include "core/config/axis_labels.hpp"
#include "distributed/agree.hpp"
#include "distributed/device_plugin.hpp"
#include "storage/files/publish.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "worker/process/provenance.hpp"
#include "worker/process/stop_signals.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

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

/// The first rank decides where progress is shown and where the others tell theirs.
ProgressOptions shared_options(const RunOrder& order, const Store& store, const Sweep& sweep,
                               Collective& world) {
  ProgressOptions out;
  out.rank = world.rank();
  out.ranks = world.size();
  out.style = progress_style(order.progress);
  std::string board = fs::path(log_name()).stem();
  if (out.ranks > 1) {
    out.style = static_cast<ProgressStyle>(
        std::stoi(broadcast_text(world, std::to_string(static_cast<int>(out.style)), 0)));
    board = broadcast_text(world, board, 0);
  }
  out.board = store.live_dir() / board;
  out.has_result = [&](std::size_t row) { return store.completed(sweep.cells[row].id); };
  out.stop_requested = stop_requested;
  out.request_stop = request_stop;
  const std::string tag = out.ranks > 1 ? fmt::format("rank {}", out.rank) : "";
  configure_log(LogLevel::Info, tag,
                out.style == ProgressStyle::Terminal ? kEraseBelow : std::string_view());
  return out;
}

/// The sweep as the store knows it, with predicted times for one team.
LiveSweep live_sweep(const Sweep& sweep, const Store& store, const CostTable& costs,
                     DataPool& data) {
  std::vector<LiveCell> cells;
  const auto ranks = static_cast<double>(ranks_per_job(sweep.run));
  for (const CellPlan& plan : sweep.cells) {
    LiveCell& cell = cells.emplace_back();
    cell.alias = plan.alias;
    cell.structure = plan.structure;
    cell.steps = plan.config.integer("train.steps");
    cell.done = store.completed(plan.id);
    if (cell.done) continue;
    const StructureCost& cost = costs.at(plan.structure);
    cell.predicted = predicted_times(plan.config, cost);
    cell.predicted.training /= ranks;
    if (plan.config.null("eval.final_windows")) {  // whole splits, whose lengths are known here
      const std::shared_ptr<const Dataset> set = data.open(plan.config);
      for (const std::string& split : plan.config.words("eval.final_splits")) {
        const TokenStream& tokens = set->streams.at(label_index(kSplitNames, split));
        cell.predicted.ending += static_cast<double>(tokens.size()) * cost.seconds_per_eval_token;
      }
    }
    for (const CheckpointFile& file : list_checkpoints(store.cell_path(plan.id))) {
      cell.made = std::max(cell.made, file.step);
    }
  }
  return {sweep.name, std::move(cells)};
}

}  // namespace

RunContext::RunContext(const RunOrder& order, const Sweep& sweep_, const Store& store_,
                       Collective& world, int local_rank, int local_size)
    : sweep(sweep_),
      store(store_),
      plan(read_plan(store)),
      logs{open_log(store)},
      device(choose_device(sweep.run, world, local_rank, local_size)),
      threads(choose_threads(sweep.run, warnings)),
      team(world, ranks_per_job(sweep.run)),
      data(opened_corpora(store, sweep, world)),
      nccl(nccl_of(team, device.device)),
      sync(nccl ? *nccl : team.group(), team.group()),
      quick_costs(depthgrid::quick_costs(sweep, device.device)),
      costs(known_costs(sweep, quick_costs)),
      library_versions(library_versions_json(device.device.is_cuda())),
      progress(shared_options(order, store, sweep, world), live_sweep(sweep, store, costs, data)) {
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
