#include "worker/sweep_run.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "distributed/bucket_sync.hpp"
#include "distributed/device_map.hpp"
#include "distributed/device_plugin.hpp"
#include "distributed/team.hpp"
#include "models/cost_model.hpp"
#include "storage/pack.hpp"
#include "worker/fused_model.hpp"
#include "worker/job_queue.hpp"
#include "worker/provenance.hpp"
#include "worker/stop_signals.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::json;

struct DeviceChoice {
  at::Device device = at::kCPU;
  std::string name;
};

DeviceChoice choose_device(const CellConfig& run, Collective& world, int local_rank,
                           int local_size) {
  const std::string& wanted = run.word("resources.device");
  const bool none = !run.null("resources.gpus") && run.integer("resources.gpus") == 0;
  int devices = wanted == "cpu" || none ? 0 : device_count();
  if (devices > 1 && !run.null("resources.gpus")) {
    devices = std::min(devices, static_cast<int>(run.integer("resources.gpus")));
  }
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

std::int64_t choose_threads(const CellConfig& run) {
  const std::int64_t threads = run.null("resources.threads") ? 1 : run.integer("resources.threads");
  at::set_num_threads(static_cast<int>(threads));
  if (const auto warning = affinity_warning(usable_cpus(), static_cast<int>(threads))) {
    log(LogLevel::Warning, *warning);
  }
  return threads;
}

/// Fusing limits and rough costs of every structure, without calibration: enough to order jobs.
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
    // Any speed serves: only the order of times matters here.
    cost.seconds_per_cell_step = 3e-10 * cost.flops_per_token * static_cast<double>(batch * tokens);
    cost.seconds_per_eval_token = 1e-10 * cost.flops_per_token;
    costs.emplace(cell.structure, cost);
  }
  return costs;
}

/// LibTorch says it in words on the CPU and by a type of its own on a GPU.
bool out_of_memory(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e) != nullptr) return true;
  return std::string_view(e.what()).find("DefaultCPUAllocator") != std::string_view::npos;
}

/// One error for the whole world: the first rank's text, on every rank.
template <class Work>
void together(Collective& world, const Work& work) {
  std::string problem;
  int code = 0;
  try {
    work();
  } catch (const UserError& e) {
    problem = e.what();
    code = static_cast<int>(e.code());
  }
  const std::int64_t worst = largest(world, code);
  if (worst == 0) return;
  for (const std::string& text : gather_text(world, problem)) {
    if (!text.empty()) throw UserError(static_cast<ExitCode>(worst), text);
  }
}

class SweepRun {
 public:
  SweepRun(const RunOrder& order, Collective& world, int local_rank, int local_size);
  ExitCode run();

 private:
  void lead();
  void follow();
  void train(Claim claim);
  void fail(const Claim& claim, CellStatus status, const std::string& kind,
            const std::string& message);
  bool wait_for_others();

  Collective& world_;
  Sweep sweep_;
  Store store_;
  StoredPlan plan_;
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
  std::map<std::size_t, std::int64_t> retries_;  // of cells alone that did not fit in memory
  bool stopped_ = false;
};

Store open_store(const RunOrder& order, Collective& world, const Sweep& sweep) {
  std::optional<Store> store;
  together(world, [&] {
    if (world.rank() != 0) return;
    store = Store::open_or_create(order.store);
    publish_plan(*store, sweep);
  });
  return store ? *store : Store::open(order.store);
}

std::int64_t ranks_per_job(const CellConfig& run) {
  return run.is_word("resources.ranks_per_job") ? 1 : run.integer("resources.ranks_per_job");
}

SweepRun::SweepRun(const RunOrder& order, Collective& world, int local_rank, int local_size)
    : world_(world),
      sweep_(load_sweep({.file = order.file, .set = order.set, .yes = order.yes})),
      store_(open_store(order, world, sweep_)),
      plan_(read_plan(store_)),
      device_(choose_device(sweep_.run, world, local_rank, local_size)),
      threads_(choose_threads(sweep_.run)),
      team_(world, static_cast<int>(ranks_per_job(sweep_.run))),
      data_(store_),
      progress_(progress_style(order.progress),
                world.size() > 1 ? fmt::format("rank {}: ", world.rank()) : ""),
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
  context_ =
      std::make_unique<RunContext>(RunContext{sweep_, store_, plan_, data_, *sync_, team_.group(),
                                              progress_, device_.device, device_.name, threads_});
}

void SweepRun::fail(const Claim& claim, CellStatus status, const std::string& kind,
                    const std::string& message) {
  const std::string json =
      Json{{"class", kind}, {"message", message}, {"job", claim.job.id}}.dump();
  std::vector<std::size_t> lost;
  for (const std::size_t row : claim.job.rows) {
    const CellPlan& cell = sweep_.cells[row];
    if (store_.completed(cell.id)) continue;  // it had diverged, or somebody else has finished it
    lost.push_back(row);
    const std::int64_t generation = lease_state(store_.cell_path(cell.id)).generation;
    store_.publish_failure(cell.id, generation, status, json);
    log(LogLevel::Error, cell.alias + ": " + message);
  }
  queue_->give_up(lost);
}

void SweepRun::train(Claim claim) {
  Claim outline{claim.job, {}};
  std::unique_ptr<JobSession> session;
  const auto give_back = [&](AttemptOutcome outcome, ExitCode code) {
    if (session) session->abandon(outcome, static_cast<int>(code));
    session.reset();
  };
  if (team_.group().size() > 1) {
    const Json order = {
        {"job", claim.job.id}, {"rows", claim.job.rows}, {"first_step", claim.job.first_step}};
    broadcast_text(team_.group(), order.dump(), 0);
  }
  try {
    session = std::make_unique<JobSession>(*context_, claim.job, std::move(claim.cells));
    stopped_ = session->run() == SessionEnd::Stopped;
  } catch (const std::exception& problem) {
    if (team_.group().size() > 1) throw;  // the other ranks wait for this one: end them all
    const bool oom = out_of_memory(problem);
    if (!oom && dynamic_cast<const UserError*>(&problem) != nullptr) {
      give_back(AttemptOutcome::Error, ExitCode::Failed);
      throw;  // a full disk or damaged data concerns every cell
    }
    give_back(oom ? AttemptOutcome::Oom : AttemptOutcome::Error, ExitCode::Failed);
    if (!oom) {
      fail(outline, CellStatus::Failed, "error", problem.what());
      return;
    }
    if (outline.job.rows.size() > 1) {
      progress_.say("job " + outline.job.id + " does not fit in memory: split in two");
      queue_->split(outline);
    } else if (retries_[outline.job.rows.front()]++ < sweep_.run.integer("retry.oom")) {
      progress_.say("job " + outline.job.id + " does not fit in memory: tried once more");
    } else {
      fail(outline, CellStatus::Oom, "oom",
           fmt::format("out of memory with one cell alone; peak {:.0f} MB",
                       peak_memory_bytes() / 1e6));
    }
  }
  if (!session || stopped_) return;
  session.reset();
  progress_.sweep(queue_->completed(), static_cast<std::int64_t>(sweep_.cells.size()));
  progress_.job_ended("done");
}

bool SweepRun::wait_for_others() {
  for (int i = 0; i < 10 && !stop_requested(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !stop_requested();
}

void SweepRun::lead() {
  std::vector<bool> wanted;
  for (const CellPlan& cell : sweep_.cells) wanted.push_back(!store_.completed(cell.id));
  const PackingOptions packing = packing_options(sweep_.run, team_.count());
  queue_ = std::make_unique<JobQueue>(
      sweep_, store_, leases_,
      plan_jobs(sweep_.cells, wanted, packing, quick_costs(sweep_, device_.device)),
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
    JobSession session(
        *context_,
        {order.at("job"), order.at("rows").get<std::vector<std::size_t>>(), order.at("first_step")},
        {});
    stopped_ = session.run() == SessionEnd::Stopped || stopped_;
  }
}

ExitCode SweepRun::run() {
  if (team_.leads()) {
    lead();
  } else if (!team_.idle()) {
    follow();
  }
  const bool stopped = largest(world_, stopped_ ? 1 : 0) > 0;
  const std::int64_t failed = total(world_, queue_ ? queue_->failed() : 0);
  if (world_.rank() == 0) {
    for (const std::string& problem : pack(store_).problems) log(LogLevel::Warning, problem);
  }
  world_.barrier();
  if (stopped) return ExitCode::TempFail;
  return failed > 0 ? ExitCode::Partial : ExitCode::Done;
}

}  // namespace

ExitCode run_sweep(const RunOrder& order, Collective& world, int local_rank, int local_size) {
  return SweepRun(order, world, local_rank, local_size).run();
}

}  // namespace depthgrid
