#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/exit_code.hpp"
#include "core/base/nan.hpp"
#include "storage/files/lease_keeper.hpp"
#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/launch/running_launch.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/live/hang_judge.hpp"
#include "sweeps/live/live_event.hpp"
#include "sweeps/run/disk_pause.hpp"
#include "sweeps/run/launch_queue.hpp"
#include "sweeps/run/retry_book.hpp"
#include "sweeps/run/slot_pool.hpp"

namespace depthgrid {

/// What a supervisor asks of what it works on: launches, cells, the display, time.
class SupervisorBackend {
 public:
  virtual ~SupervisorBackend() = default;
  /// @throws Error if it cannot be started.
  virtual std::unique_ptr<RunningLaunch> start(const LaunchRequest& request) = 0;
  /// How ranks of such a launch start: direct, mpirun or srun.
  virtual std::string launcher_of(std::int64_t /*ranks*/) const { return "direct"; }
  /// Whether a launch of so many ranks may have no other one beside it.
  virtual bool runs_alone(std::int64_t /*ranks*/) const { return false; }

  /// It has a result, is cancelled, or has failed in this run: see CellStates.
  virtual bool finalised(std::size_t row) = 0;
  virtual bool done(std::size_t row) const = 0;  // has a result
  /// How far the launch's cells are, as progress_measure().
  virtual std::int64_t progress(const LaunchPlan& plan) const = 0;
  /// Takes the launch's cells over from owners that have fallen silent; false while such an owner
  /// may yet come back. See inherit_cells().
  virtual bool inherit(const LaunchPlan& /*plan*/) { return true; }
  /// Reports the launch's cells that have no result as failed.
  virtual void report_failed(const LaunchPlan& plan, const LaunchRecord& last,
                             const std::string& why) = 0;

  virtual bool stop_asked() = 0;
  virtual void notify(const std::string& line) = 0;
  virtual void receive(const LiveEvent& /*event*/) {}
  virtual void record(SweepEvent /*event*/) {}  // what happened, for those who ask later

  virtual double now() const = 0;  // s, monotonic
  /// s until no further launch is worth its start; NaN = no limit.
  virtual double time_left() const { return kNaN; }
  virtual void wait(double seconds) = 0;
};

struct SupervisorOptions {
  std::int64_t slots = 1;           // ranks at the same time
  std::vector<std::string> gpus{};  // one for each slot; empty: CPU
  std::vector<int> cores{};         // handed out to launches; empty: all share all
  std::int64_t cores_per_rank = 1;
  double memory_bytes = 0;  // for all launches together; 0 = not limited
  HangLimit hang{};         // leaf resources.hang
  double grace = 600;       // s that launches have to stop
  double disk_wait = 0;     // s, see DiskPause
  bool fail_fast = false;   // the first failed cell ends the run
  // For the records:
  std::string host{}, slurm_job{};
  std::int64_t restart = 0;  // of the task
};

/// Starts launches, watches them, starts again what failed, until every cell of them is finalised.
/// It holds no state that is not in the store: kill it, start it again, start five on one store.
class Supervisor {
 public:
  /// @param leases  of this process. @param store  its folder. All references outlive this.
  /// @throws UserError (Usage) if a launch needs more slots than there are.
  Supervisor(const std::vector<LaunchPlan>& launches, const std::filesystem::path& store,
             LeaseKeeper& leases, SupervisorOptions options, RetryOptions retries,
             SupervisorBackend& backend);

  /// Done, Partial if launches were given up, TempFail after a stop, or the code of what ended it.
  ExitCode run();

  /// Ranks of launches that run, and the capacity for ranks.
  std::int64_t busy() const noexcept { return slots_.all() - slots_.free(); }
  std::int64_t slots() const noexcept { return slots_.all(); }

 private:
  /// A launch that runs.
  struct Watched {
    std::size_t index;
    std::int64_t attempt;
    Lease lease;
    SlotShare share;
    std::unique_ptr<RunningLaunch> process;
    double begun;
    HangJudge judge;
    std::int64_t progress;   // of its cells, when it began
    std::int64_t oom_kills;  // of the control group then
    bool hung = false;
  };
  bool start_one();
  bool begin(std::size_t index);
  void watch();
  void ended(Watched& launch, int code);
  LaunchRecord record_of(const Watched& launch, LaunchEnd end, int code,
                         const std::string& words) const;
  void try_again(std::size_t index, const LaunchRecord& record, const RetryBook::Verdict& verdict);
  void note_success(const LaunchPlan& plan);
  void keep_records();
  ExitCode ended_with(ExitCode code);
  bool waits_for_disk(const std::string& words, bool whole);
  void start_what_may();
  void stop_all();
  void or_end(const std::function<void()>& action);
  void give_up(std::size_t index, const LaunchRecord& record, const RetryBook::Verdict& verdict);
  void replace(std::size_t index, const std::vector<LaunchPlan>& parts, const LaunchRecord& record,
               double not_before);
  void return_share(const SlotShare& share, LaunchEnd end);
  double after_a_heartbeat() const;
  ExitCode code_at_end();
  void end_with(ExitCode code, const std::string& why);

  std::filesystem::path store_;
  LeaseKeeper& leases_;
  SupervisorOptions options_;
  RetryBook retries_;
  SupervisorBackend& backend_;
  LaunchQueue queue_;  // to whose plans running launches refer
  std::vector<std::unique_ptr<Watched>> running_;
  SlotPool slots_;
  DiskPause disk_;
  std::vector<LaunchRecord> unwritten_;
  double stopping_since_ = -1;
  ExitCode code_ = ExitCode::Done;
};

}  // namespace depthgrid
