#include "worker/session/run_context.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/terminal.hpp"
#include "core/base/version.hpp"
#include "core/config/axis_labels.hpp"
#include "core/data/steering/steering_prompts.hpp"
#include "distributed/agree.hpp"
#include "distributed/device_plugin.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/live/live_cells.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/plan/plan_report.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/provenance.hpp"
#include "worker/process/stop_signals.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Copies this process's log lines to the store from here on. @return the file's name.
std::string open_log(const Store& store) {
  const std::string name = log_name();
  make_folders(store.log_dir(), store.fs());
  if (const int closed = store.fs().may_make_in(store.log_dir()); closed != 0) {
    throw_errno(store.log_dir(), "cannot keep a log there", closed, 0, store.fs());
  }
  log_to_file(store.log_dir() / name);
  return name;
}

/// Leaf resources.ranks_per_job; auto: the most that a cell wants, since all teams of a run are
/// equal. A process that only prepares a run trains nothing: it needs no team.
int chosen_ranks(const RunCommand& command, const Sweep& sweep, const DeviceChoice& device,
                 const CostTable& costs, Collective& world, int local_size) {
  if (command.mode == RunMode::Prepare) return 1;
  PackingOptions options = packing_options(sweep.run, 1);
  if (!options.auto_ranks) return static_cast<int>(options.ranks_per_job);
  options.teams = world.size();
  options.gpu = device.device.is_cuda();
  // Whether a cell fits on a GPU is found by running.
  if (!options.gpu) options.memory_bytes = usable_memory_bytes(local_size);
  const std::int64_t ranks = equal_teams(sweep.cells, options, costs);
  // Hosts of different sizes would not agree.
  return std::stoi(broadcast_text(world, std::to_string(ranks), 0));
}

/// NCCL among the GPUs of a team of several ranks; else null. NCCL refuses two ranks on one card:
/// their tensors go through the host.
std::unique_ptr<Collective> nccl_of(Team& team, const DeviceChoice& device) {
  if (team.idle() || team.group().size() < 2 || !device.device.is_cuda()) return nullptr;
  if (!CardMap(team.group(), device.place).distinct()) return nullptr;
  return make_nccl_collective(team.group(), kPeerTimeout);
}

/// Whether gradients are summed beside the backward pass: on the CPU, if a core is free for it on
/// each rank, since a thread that waits for its peers in MPI takes a whole one.
bool sums_beside(const DeviceChoice& device, std::int64_t threads, int local_size) {
  return device.device.is_cuda() || this_machine().cores >= local_size * (threads + 1);
}

/// Leaf train.deterministic.
void repeat_bits(const Sweep& sweep, const DeviceChoice& device, Collective& world) {
  const bool deterministic = sweep.run.flag("train.deterministic");
  agree(world, [&] {
    const auto problem =
        reproducibility_problem(deterministic, device, std::getenv("CUBLAS_WORKSPACE_CONFIG"));
    if (problem) throw UserError(ExitCode::BadConfig, *problem);
  });
  use_reproducible_operations(deterministic);
}

/// Opens by the first rank, which fills caches and pins digests, then by the others, which find
/// both.
void open_on_first(Collective& world, const std::function<void()>& open) {
  agree_on_first(world, open);
  agree(world, [&] {
    if (world.rank() != 0) open();
  });
}

DataPool opened_corpora(const Store& store, const Sweep& sweep, Collective& world,
                        Watchdog& watchdog) {
  const InPhase phase(watchdog, WorkPhase::Corpora);
  DataPool data(store);
  open_on_first(world, [&] {
    for (const CellPlan& cell : sweep.cells) data.open(cell.config);
  });
  return data;
}

/// Labels of cells that are still to be trained. Prompts are read, so that what is wrong with them
/// is reported before anything is trained.
LabelPool opened_labels(const Store& store, const Sweep& sweep, DataPool& data, Collective& world,
                        Watchdog& watchdog) {
  const InPhase phase(watchdog, WorkPhase::Corpora);
  LabelPool labels(store, data, [&watchdog] {
    watchdog.beat();
    return !stop_requested();
  });
  open_on_first(world, [&] {
    std::set<std::string> read;  // structures
    for (const CellPlan& cell : sweep.cells) {
      if (store.completed(cell.id)) continue;
      labels.open(cell.config);
      if (cell.config.word("train.task") == "steering" && read.insert(cell.structure).second) {
        steering_tokens_of(cell.config, data.open(cell.config)->tokenizer.get());
      }
    }
  });
  return labels;
}

/// The first rank decides how progress is shown, and by which channel the others report theirs.
ProgressOptions shared_options(const RunCommand& command, const Store& store, const Sweep& sweep,
                               Collective& world) {
  ProgressOptions out;
  out.rank = world.rank();
  out.ranks = world.size();
  out.style = display_style(command.progress);
  std::string channel = fs::path(log_name()).stem();
  if (out.ranks > 1) {
    out.style = static_cast<DisplayStyle>(
        std::stoi(broadcast_text(world, std::to_string(static_cast<int>(out.style)), 0)));
    channel = broadcast_text(world, channel, 0);
  }
  out.channel = store.live_dir() / channel;
  out.disk = &store.fs();
  if (command.mode == RunMode::Launch) out.supervisor = command.channel;
  out.has_result = [&](std::size_t row) { return store.completed(sweep.cells[row].id); };
  out.stop_requested = stop_requested;
  out.request_stop = request_stop;
  const std::string tag = out.ranks > 1 ? fmt::format("rank {}", out.rank) : "";
  configure_log(wanted_log_level(), tag,
                out.style == DisplayStyle::Terminal ? kEraseBelow : std::string_view());
  return out;
}

/// What the first rank's display begins with; nothing where nobody sees it. Whole splits are as
/// long as they are in `data`.
LiveSweep shown_sweep(const Sweep& sweep, const Store& store, const CostTable& costs,
                      std::int64_t ranks, DataPool& data, bool seen) {
  if (!seen) return {sweep.name, {}};
  const auto tokens = [&](const CellConfig& config, const std::string& split) {
    const std::shared_ptr<const Dataset> set = data.open(config);
    return static_cast<double>(set->streams.at(label_index(kSplitNames, split)).size());
  };
  return {sweep.name,
          live_cells(sweep, store, costs, [&](std::size_t /*row*/) { return ranks; }, tokens)};
}

}  // namespace

RunLog::RunLog(const Store& store) : logs{open_log(store)} {}

RunDevice::RunDevice(const Sweep& sweep, Collective& world, int local_rank)
    : device(choose_device(sweep.run, world, local_rank)),
      threads(choose_threads(sweep.run, warnings)) {}

RunTeam::RunTeam(const RunCommand& command, const Sweep& sweep, const DeviceChoice& device,
                 Collective& world, int local_size)
    : quick_costs(depthgrid::quick_costs(sweep, device.device)),
      ranks_per_job(chosen_ranks(command, sweep, device, quick_costs, world, local_size)),
      team(world, ranks_per_job) {}

RunCorpora::RunCorpora(const Sweep& sweep, const Store& store, Collective& world,
                       Watchdog& watchdog)
    : data(opened_corpora(store, sweep, world, watchdog)),
      labels(opened_labels(store, sweep, data, world, watchdog)) {}

RunLinks::RunLinks(Team& team, const RunDevice& own, int local_size)
    : nccl(nccl_of(team, own.device)),
      sync(nccl ? *nccl : team.group(), team.group(), BucketSync::kBucketBytes,
           sums_beside(own.device, own.threads, local_size)) {}

RunContext::RunContext(const RunCommand& command, const Sweep& sweep_, const Store& store_,
                       Collective& world, int local_rank, int local_size, Watchdog& watchdog_)
    : RunLog(store_),
      RunDevice(sweep_, world, local_rank),
      RunTeam(command, sweep_, device, world, local_size),
      RunCorpora(sweep_, store_, world, watchdog_),
      RunLinks(team, *this, local_size),
      sweep(sweep_),
      store(store_),
      plan(stored_plan(sweep)),
      costs(known_costs(sweep, quick_costs)),
      library_versions(library_versions_json(device.device.is_cuda())),
      progress(shared_options(command, store, sweep, world),
               shown_sweep(sweep, store, costs, ranks_per_job, data,
                           world.rank() == 0 && command.progress != "quiet")),
      watchdog(watchdog_) {
  logs = gather_text(team.group(), logs.front());
  repeat_bits(sweep, device, world);
  const auto slow = slow_precision(sweep, device.device.is_cpu(), has_bf16_products());
  if (slow && world.rank() == 0) log(LogLevel::Warning, *slow);
  log_quietly(LogLevel::Info,
              fmt::format("depthgrid-worker {}: rank {} of {}, {}, sweep {} ({})", code_version(),
                          world.rank(), world.size(), device.name, sweep.name, sweep.file));
}

}  // namespace depthgrid
