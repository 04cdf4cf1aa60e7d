#include "worker/run/sweep_run.hpp"

#include <chrono>
#include <cstdio>
#include <new>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/version.hpp"
#include "distributed/bucket_sync.hpp"
#include "distributed/device_plugin.hpp"
#include "distributed/team.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/plan/matched_sweep.hpp"
#include "sweeps/plan/start_check.hpp"
#include "sweeps/report/run_summary.hpp"
#include "worker/process/fresh_process.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/out_of_memory.hpp"
#include "worker/process/provenance.hpp"
#include "worker/process/run_setup.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/run/final_weights.hpp"
#include "worker/run/job_queue.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::json;

class SweepRun {
 public:
  SweepRun(const RunOrder& order, Collective& world, int local_rank, int local_size);
  ExitCode run();

 private:
  std::vector<bool> wanted();
  void lead(const std::vector<bool>& wanted_cells);
  void follow();
  void train(Claim claim);
  void out_of_memory(const SessionJob& job, const std::vector<std::int64_t>& generations,
                     double peak);
  void fail(const SessionJob& job, const std::vector<std::int64_t>& generations, CellStatus status,
            const std::string& kind, const std::string& message);
  bool wait_for_others();

  RunOrder order_;
  int local_size_;
  Collective& world_;
  Sweep sweep_;
  Store store_;
  StoredPlan plan_;
  std::string log_name_;
  std::vector<std::string> warnings_;
  DeviceChoice device_;
  std::int64_t threads_;
  Team team_;
  std::unique_ptr<Collective> nccl_;
  std::unique_ptr<BucketSync> sync_;
  DataPool data_;
  Progress progress_;
  LeaseKeeper leases_;
  std::unique_ptr<RunContext> context_;
  std::unique_ptr<JobQueue> queue_;
  CostTable quick_costs_, costs_;
  AuditPermit permit_;
  bool stopped_ = false;
  ExitCode code_ = ExitCode::Done;  // of a process for one cell
};

/// Weights that do not fit are refused before anything is trained, or written to the store.
void refuse_misfits(const Sweep& sweep) {
  TensorTable tensors;
  for (const CellPlan& cell : start_structures(sweep)) {
    tensors.emplace(cell.structure, tensor_infos(layout_of(model_options({&cell.config}))));
  }
  check_starts(sweep, tensors);
}

/// The sweep with the widths that `match:` asks for: rank 0 reads them from the store's plan, or
/// finds and publishes them there. Of several runs at once the first one's widths hold for all.
Sweep planned_sweep(const RunOrder& order, Collective& world) {
  SweepRequest request{.file = order.file, .set = order.set, .yes = order.yes};
  Sweep sweep = load_sweep(request);
  if (sweep.goals.empty()) {
    together(world, [&] {
      if (world.rank() == 0) refuse_misfits(sweep);
    });
    return sweep;
  }
  std::string widths;
  together(world, [&] {
    if (world.rank() != 0) return;
    const DescribeCache cache(program_beside("depthgrid-worker"), default_cache_folder());
    const Amounts amounts = described_amounts(cache);
    sweep = matched_sweep(request, order.store, amounts);
    refuse_misfits(sweep);
    Store store = Store::open_or_create(order.store);
    if (!has_plan(store)) {
      try {
        publish_plan(store, sweep);
      } catch (const UserError&) {  // somebody else was faster; if not so, open_store() says it
        sweep = matched_sweep(request, order.store, amounts);
      }
    }
    for (const MatchedWidth& width : sweep.matched) {
      log(LogLevel::Info, "match: " + matched_text(width));
    }
    widths = matched_json(sweep.matched);
  });
  request.matched = matched_from_json(broadcast_text(world, widths, 0));
  return world.rank() == 0 ? sweep : load_sweep(request);
}

Store open_store(const RunOrder& order, Collective& world, const Sweep& sweep) {
  std::optional<Store> store;
  together(world, [&] {
    if (world.rank() != 0) return;
    store = Store::open_or_create(order.store);
    publish_plan(*store, sweep);
  });
  return store ? *store : Store::open(order.store);
}

/// From here on this process's lines are in the store too. @return the file's name.
std::string open_log(const Store& store) {
  const std::string name = log_name();
  make_folders(store.log_dir());
  log_to_file(store.log_dir() / name);
  return name;
}

std::int64_t ranks_per_job(const CellConfig& run) {
  return run.is_word("resources.ranks_per_job") ? 1 : run.integer("resources.ranks_per_job");
}

SweepRun::SweepRun(const RunOrder& order, Collective& world, int local_rank, int local_size)
    : order_(order),
      local_size_(local_size),
      world_(world),
      sweep_(planned_sweep(order, world)),
      store_(open_store(order, world, sweep_)),
      plan_(read_plan(store_)),
      log_name_(open_log(store_)),
      device_(choose_device(sweep_.run, world, local_rank, local_size)),
      threads_(choose_threads(sweep_.run, warnings_)),
      team_(world, static_cast<int>(ranks_per_job(sweep_.run))),
      data_(store_),
      progress_(progress_style(order.progress),
                world.size() > 1 ? fmt::format("rank {}: ", world.rank()) : "", world.rank()),
      leases_({.ttl = std::chrono::seconds(sweep_.run.integer("resources.lease"))}) {
  // Rank 0 fills the token cache and pins digests; the others find both.
  const auto open_all = [&] {
    for (const CellPlan& cell : sweep_.cells) data_.open(cell.config);
  };
  together(world, [&] {
    if (world.rank() == 0) open_all();
  });
  together(world, [&] {
    if (world.rank() != 0) open_all();
  });
  const bool deterministic = sweep_.run.flag("train.deterministic");
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/true);
  // Filling fresh memory with NaN would cost a pass over every result; all of ours is overwritten.
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  if (device_.device.is_cuda() && team_.group().size() > 1 && nccl_available()) {
    nccl_ = make_nccl_collective(team_.group(), std::chrono::minutes(5));
  }
  sync_ = std::make_unique<BucketSync>(nccl_ ? *nccl_ : team_.group(), team_.group());
  quick_costs_ = quick_costs(sweep_, device_.device);
  costs_ = known_costs(sweep_, quick_costs_);
  context_ = std::make_unique<RunContext>(
      RunContext{.sweep = sweep_,
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
                 .permit = permit_,
                 .logs = gather_text(team_.group(), log_name_),
                 .warnings = warnings_,
                 .library_versions = library_versions_json(device_.device.is_cuda())});
  log_quietly(LogLevel::Info,
              fmt::format("depthgrid-worker {}: rank {} of {}, {}, sweep {} ({})", code_version(),
                          world.rank(), world.size(), device_.name, sweep_.name, sweep_.file));
}

/// @param generations  of the attempts that have failed, one a cell of the job. Its leases are
///                     released by now: the newest claim may be another owner's, who is at work.
void SweepRun::fail(const SessionJob& job, const std::vector<std::int64_t>& generations,
                    CellStatus status, const std::string& kind, const std::string& message) {
  const std::string json = Json{{"class", kind}, {"message", message}, {"job", job.id}}.dump();
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < job.rows.size(); ++i) {
    const CellPlan& cell = sweep_.cells[job.rows[i]];
    if (store_.completed(cell.id)) continue;  // it had diverged, or somebody else has finished it
    lost.push_back(job.rows[i]);
    store_.publish_failure(cell.id, generations.at(i), status, json);
    log(LogLevel::Error, cell.alias + ": " + message);
  }
  queue_->give_up(lost);
}

void SweepRun::train(Claim claim) {
  std::vector<std::int64_t> generations;
  for (const ClaimedCell& cell : claim.cells) generations.push_back(cell.lease.generation());
  std::unique_ptr<JobSession> session;
  const auto give_back = [&](const AttemptProblem& problem) {
    if (session) {
      session->abandon(problem);
    } else {  // it did not even begin: the attempt is recorded all the same
      for (ClaimedCell& cell : claim.cells) {
        if (!cell.lease.valid()) continue;
        CellRecorder(store_, plan_, plan_.cells.at(cell.row), std::move(cell.lease),
                     claim.job.first_step, attempt_json(*context_, claim.job), {})
            .abandon(claim.job.first_step, problem);
      }
    }
    claim.cells.clear();
    session.reset();
  };
  if (team_.group().size() > 1) {
    const Json order = {
        {"job", claim.job.id}, {"rows", claim.job.rows}, {"first_step", claim.job.first_step}};
    broadcast_text(team_.group(), order.dump(), 0);
  }
  reset_peak_memory(device_.device);
  try {
    session = std::make_unique<JobSession>(*context_, claim.job, claim.cells);
    stopped_ = session->run() == SessionEnd::Stopped;
  } catch (const std::exception& problem) {
    if (team_.group().size() > 1) throw;  // the other ranks wait for this one: end them all
    const std::string text = problem.what();
    const bool begun = session != nullptr;
    if (is_out_of_memory(problem)) {
      const double peak = peak_device_memory_bytes(device_.device);
      const bool alone = claim.job.rows.size() == 1;
      give_back({AttemptOutcome::Oom, ExitCode::OutOfMemory,
                 alone ? EventKind::Failure : EventKind::Warning, peak,
                 fmt::format("out of memory with {}",
                             alone ? "one cell alone"
                                   : fmt::format("{} cells: split", claim.job.rows.size()))});
      if (begun) progress_.job_ended("out of memory");
      out_of_memory(claim.job, generations, peak);
      return;
    }
    give_back({AttemptOutcome::Error, ExitCode::Failed, EventKind::Failure, 0, text});
    if (begun) progress_.job_ended("failed");
    if (dynamic_cast<const UserError*>(&problem) != nullptr) {
      throw;  // a full disk or damaged data concerns every cell
    }
    fail(claim.job, generations, CellStatus::Failed, "error", text);
    return;
  }
  if (stopped_) return;
  session.reset();
  progress_.sweep(queue_->completed(), static_cast<std::int64_t>(sweep_.cells.size()));
  progress_.job_ended("done");
}

void SweepRun::out_of_memory(const SessionJob& job, const std::vector<std::int64_t>& generations,
                             double peak) {
  if (job.rows.size() > 1) {
    progress_.say("job " + job.id + " does not fit in memory: split in two");
    queue_->split(job.rows);
    return;
  }
  const CellPlan& cell = sweep_.cells[job.rows.front()];
  if (!order_.cell.empty()) {  // the process that waits for this one knows what comes next
    code_ = ExitCode::OutOfMemory;
    queue_->give_up(job.rows);
    return;
  }
  for (std::int64_t i = 0; i < sweep_.run.integer("retry.oom"); ++i) {
    progress_.say("job " + job.id + " does not fit in memory: tried in a fresh process");
    const int code = train_apart(order_, cell.id, device_.device.is_cuda());
    stopped_ = code == static_cast<int>(ExitCode::TempFail);
    if (stopped_ || store_.completed(cell.id)) return;
    if (code == static_cast<int>(ExitCode::OutOfMemory)) continue;
    const auto failure = store_.newest_failure(cell.id);
    if (failure && failure->generation > generations.front()) {
      queue_->give_up(job.rows);  // it has said why
    } else if (code < 128) {
      throw UserError(static_cast<ExitCode>(code),
                      fmt::format("{}: the fresh process ended with {}; its own message stands "
                                  "above",
                                  cell.alias, code));
    }
    return;  // of a crash: retry.crash decides at the next claim
  }
  // The fresh processes have claimed generations of their own; only a claim tells the newest.
  const auto lease = leases_.try_acquire(store_.cell_dir(cell.id));
  if (!lease) return;  // somebody else is at it, and will say what comes of it
  fail(job, {lease->generation()}, CellStatus::Oom, "oom",
       fmt::format("out of memory with one cell alone; peak {:.0f} MB", peak / 1e6));
}

bool SweepRun::wait_for_others() {
  for (int i = 0; i < 10 && !stop_requested(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !stop_requested();
}

/// Cells that this run may train: those without a result, as the first rank sees them. Teams that
/// each looked for themselves would cut the cells into different jobs as soon as a fast one has
/// finished some. Collective.
std::vector<bool> SweepRun::wanted() {
  std::string marks;
  if (world_.rank() == 0) {
    for (const CellPlan& cell : sweep_.cells) {
      const bool ours = order_.cell.empty() || order_.cell == cell.id;
      marks += ours && !store_.completed(cell.id) ? '1' : '0';
    }
  }
  marks = broadcast_text(world_, marks, 0);
  std::vector<bool> out;
  for (const char mark : marks) out.push_back(mark == '1');
  return out;
}

void SweepRun::lead(const std::vector<bool>& wanted_cells) {
  PackingOptions packing = packing_options(sweep_.run, team_.count());
  // A GPU's memory is found out by running: a job that does not fit is split.
  if (device_.device.is_cpu()) packing.memory_bytes = usable_memory_bytes(local_size_);
  queue_ = std::make_unique<JobQueue>(sweep_, store_, leases_,
                                      plan_jobs(sweep_.cells, wanted_cells, packing, quick_costs_),
                                      sweep_.run.integer("retry.crash"));
  progress_.sweep(queue_->completed(), static_cast<std::int64_t>(sweep_.cells.size()));
  while (!stopped_) {
    std::optional<Claim> claim;
    const JobQueue::State state = queue_->next(claim);
    if (state == JobQueue::State::Finished) break;
    if (state == JobQueue::State::Claimed) {
      train(std::move(*claim));
    } else if (!wait_for_others()) {
      stopped_ = true;
    }
    stopped_ = stopped_ || stop_requested();
  }
  if (team_.group().size() > 1) broadcast_text(team_.group(), "", 0);  // no further job
}

void SweepRun::follow() {
  for (;;) {
    const std::string text = broadcast_text(team_.group(), "", 0);
    if (text.empty()) return;
    const Json order = Json::parse(text);
    std::vector<ClaimedCell> none;
    reset_peak_memory(device_.device);
    JobSession session(
        *context_,
        {order.at("job"), order.at("rows").get<std::vector<std::size_t>>(), order.at("first_step")},
        none);
    stopped_ = session.run() == SessionEnd::Stopped || stopped_;
  }
}

ExitCode SweepRun::run() {
  const std::vector<bool> wanted_cells = wanted();
  permit_ =
      pass_audits(world_, sweep_, wanted_cells, usable_memory_bytes(local_size_) / 2, progress_);
  stopped_ = permit_.stopped;
  if (stopped_) {
    // nothing has begun
  } else if (team_.leads()) {
    lead(wanted_cells);
  } else if (!team_.idle()) {
    follow();
  }
  const bool stopped = largest(world_, stopped_ ? 1 : 0) > 0;
  std::int64_t failed = total(world_, queue_ ? queue_->failed() : 0);
  // Without a launcher, the program that has started this one does it.
  if (world_.rank() == 0 && under_launcher()) {
    const RunSummary summary = conclude_run(store_, order_.store, stopped);
    for (const std::string& problem : summary.problems) log(LogLevel::Warning, problem);
    const bool json = order_.progress == "json";
    fmt::print(stderr, "{}\n", json ? summary_json(summary) : summary_text(summary));
    failed += summary.failed;
  }
  failed = largest(world_, failed);
  log_quietly(LogLevel::Info, stopped ? "stopped: the same command goes on" : "nothing left to do");
  if (stopped) return ExitCode::TempFail;
  if (code_ != ExitCode::Done) return code_;
  return failed > 0 ? ExitCode::Partial : ExitCode::Done;
}

}  // namespace

ExitCode run_sweep(const RunOrder& order, Collective& world, int local_rank, int local_size) {
  return SweepRun(order, world, local_rank, local_size).run();
}

}  // namespace depthgrid
