#pragma once

#include <cstdint>
#include <deque>
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
#include "sweeps/run/retry_book.hpp"
#include "sweeps/run/slot_pool.hpp"

namespace depthgrid {

/// What a supervisor asks of the world around it.
struct SupervisorWorld {
  /// @throws Error if it cannot be started.
  std::function<std::unique_ptr<RunningLaunch>(const LaunchTicket& ticket)> start;
  std::function<bool(std::size_t row)> settled;  // has a result, or a report of this run's failure
  std::function<bool(std::size_t row)> done;     // has a result
  std::function<std::int64_t(std::size_t row)> checkpoint;  // step of its newest one; 0 = none
  std::function<bool()> stop_asked;
  std::function<void(const std::string& line)> say;
  std::function<void(const LiveEvent& event)> hear = [](const LiveEvent&) {};
  std::function<void(SweepEvent event)> record = [](const SweepEvent&) {};  // see EventLog
  std::function<double()> now;                                              // s, monotonic
  /// s until no further launch is worth its start; NaN = no limit.
  std::function<double()> time_left = [] { return kNaN; };
  std::function<void(double seconds)> wait;
  /// Takes the launch's cells over from owners that have fallen silent; false while such an owner
  /// may yet come back. See inherit_cells().
  std::function<bool(const LaunchPlan& plan)> inherit = [](const LaunchPlan&) { return true; };
  /// Sets a launch's cells that have no result aside as failed.
  std::function<void(const LaunchPlan& plan, const LaunchRecord& last, const std::string& why)>
      set_aside;
};

struct SupervisorOptions {
  std::int64_t slots = 1;           // ranks at the same time
  std::vector<std::string> gpus{};  // one for each slot; empty: CPU
  std::vector<int> cores{};         // handed out to launches; empty: all share all
  std::int64_t cores_per_rank = 1;
  /// Launches of so many ranks may have no other one beside them.
  std::function<bool(std::int64_t ranks)> alone = [](std::int64_t) { return false; };
  double memory_bytes = 0;  // for all launches together; 0 = not limited
  HangLimit hang{};         // leaf resources.hang
  double grace = 600;       // s that launches have to stop
  double disk_wait = 0;     // s, see DiskPause
  bool fail_fast = false;   // the first failed cell ends the run
  // For the records:
  std::string host{}, slurm_job{};
  std::int64_t restart = 0;  // of the task
  std::function<std::string(std::int64_t ranks)> launcher = [](std::int64_t) { return "direct"; };
};

/// Starts launches, watches them, starts again what failed, until every cell of them is settled.
/// It holds no state that is not in the store: kill it, start it again, start five on one store.
class Supervisor {
 public:
  /// @param leases  of this process. @param store  its folder. All references outlive this.
  Supervisor(std::vector<LaunchPlan> launches, const std::filesystem::path& store,
             LeaseKeeper& leases, SupervisorOptions options, RetryOptions retries,
             SupervisorWorld world);
  ~Supervisor();

  /// Done, Partial if launches were set aside, TempFail after a stop, or the code of what ended it.
  ExitCode run();

  /// Ranks of launches that run, and room for ranks.
  std::int64_t busy() const noexcept { return slots_.all() - slots_.free(); }
  std::int64_t slots() const noexcept { return slots_.all(); }

 private:
  struct Watched;
  /// A launch of the plan, or a part of one.
  struct Entry {
    LaunchPlan plan;
    double not_before = 0;
    bool set_aside = false;
    std::vector<std::size_t> parts{};  // that took its place
  };
  enum class Wish : std::uint8_t { Start, Wait, Nothing };
  Wish wish_for(std::size_t index);
  bool disturbs(std::size_t index) const;
  bool start_one();
  bool begin(std::size_t index);
  void watch();
  void ended(Watched& launch, int code);
  LaunchRecord record_of(const Watched& launch, LaunchEnd end, int code,
                         const std::string& words) const;
  void try_again(std::size_t index, const LaunchRecord& record, const RetryBook::Verdict& verdict);
  void note_success(const LaunchPlan& plan);
  void keep_records();
  bool waits_for_disk(const std::string& words);
  void start_what_may();
  void stop_all();
  void or_end(const std::function<void()>& action);
  void give_up(std::size_t index, const LaunchRecord& record, const RetryBook::Verdict& verdict);
  void replace(std::size_t index, std::vector<LaunchPlan> parts, const LaunchRecord& record,
               double not_before);
  void return_share(const SlotShare& share, LaunchEnd end);
  bool open(std::size_t index) const;
  bool out_of_reach(std::size_t index) const;
  ExitCode code_at_end();
  std::int64_t state_of(const LaunchPlan& plan) const;
  void end_with(ExitCode code, const std::string& why);

  std::deque<Entry> launches_;  // whose plans running launches refer to
  std::filesystem::path store_;
  LeaseKeeper& leases_;
  SupervisorOptions options_;
  RetryBook retries_;
  SupervisorWorld world_;
  std::vector<std::unique_ptr<Watched>> running_;
  SlotPool slots_;
  DiskPause disk_;
  std::vector<LaunchRecord> unwritten_;
  double stopping_since_ = -1;
  ExitCode code_ = ExitCode::Done;
};

}  // namespace depthgrid
