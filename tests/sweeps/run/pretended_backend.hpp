#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/run/supervisor.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid::testing {

/// What a pretended launch does: so long, and then ends with this code.
struct Script {
  double seconds = 1;
  int code = 0;
  bool finalises = true;  // its cells have results afterwards
  std::int64_t checkpoint = 0;
  bool loses_folder = false;  // its folder in the store cannot be written when it ends
  std::string says{};         // in its log
  bool lives = false;         // it gives a sign of life each second
  std::string cause{};        // what is wrong with its node
};

/// A world with a clock of its own.
class PretendedBackend : public SupervisorBackend {
 public:
  /// @param disk  of the store; it outlives this.
  explicit PretendedBackend(std::vector<LaunchPlan> launches, SupervisorOptions options = {},
                            const Fs& disk = real_fs())
      : leases_({}, disk), launches_(std::move(launches)), options_(std::move(options)) {}

  void plays(const std::string& id, std::deque<Script> scripts) { scripts_[id] = scripts; }

  ExitCode run(RetryOptions retries = {}) {
    if (!retries.budget) retries.budget = [](std::string_view) { return std::int64_t{2}; };
    Supervisor supervisor(launches_, folder_.path(), leases_, options_, retries, *this);
    return supervisor.run();
  }

  /// Another process brings a cell to its end.
  void settle(std::size_t row) { finalised_.insert(row); }

  bool finalised(std::size_t row) override {
    ++questions;
    return finalised_.contains(row) || cancelled.contains(row);
  }
  bool done(std::size_t row) const override {
    return finalised_.contains(row) && !failed_.contains(row);
  }
  std::int64_t progress(const LaunchPlan& plan) const override {
    std::int64_t out = 0;
    for (const std::size_t row : plan.rows) {
      const auto at = checkpoints_.find(row);
      out += finalised_.contains(row) ? 1000000 : at == checkpoints_.end() ? 0 : at->second;
    }
    return out;
  }
  bool runs_alone(std::int64_t ranks) const override { return alone(ranks); }
  bool stop_asked() override { return now_ >= stop_at; }
  void notify(const std::string& line) override { log += line + '\n'; }
  void receive(const LiveEvent&) override { ++received; }
  void record(SweepEvent event) override { recorded.push_back(std::move(event)); }
  double time_left() const override { return late_at - now_; }
  void wait(double seconds) override {
    if (!events.empty() && events.back().kind != Event::Kind::Wait) {
      events.push_back({Event::Kind::Wait});
    }
    now_ += seconds;
    if (now_ > pause_at) now_ += 25, pause_at = 1e9;
    ASSERT_LT(now_, 1e6) << "it never ends; said so far:\n" << log;
  }
  bool inherit(const LaunchPlan& plan) override {
    return plan.id != haunted || now_ > haunted_until;
  }
  void report_failed(const LaunchPlan& plan, const LaunchRecord&, const std::string& why) override {
    given_up.push_back(plan.id);
    log += why + '\n';
  }
  /// What happened, in order. A pause of the supervisor is one event, however long.
  struct Event {
    enum class Kind : std::uint8_t { Start, End, Wait } kind;
    std::string id{};
  };
  std::vector<Event> events;
  std::vector<SweepEvent> recorded;
  std::vector<std::string> started, given_up, asked, killed;
  std::function<bool(std::int64_t ranks)> alone = [](std::int64_t) { return false; };
  std::string haunted;  // an owner of this launch's cells is silent …
  double haunted_until = 0;
  std::string no_log_of;  // this launch's log cannot be opened
  std::vector<std::vector<std::string>> gpus;
  std::string log;
  std::set<std::size_t> cancelled;  // rows
  std::size_t questions = 0;        // whether a cell is settled
  std::size_t most_at_once = 0;
  std::size_t received = 0;  // last words of launches
  double stop_at = 1e9, pause_at = 1e9, late_at = 1e9;
  double full_until = 0;  // the disk: launches that end before have not been able to write
  std::vector<std::vector<int>> cores;
  std::string fails_on;  // a card
  double now() const override { return now_; }
  std::size_t count_finalised() const { return finalised_.size(); }
  LeaseKeeper& leases() { return leases_; }
  std::filesystem::path folder() const { return folder_.path(); }

 private:
  class Pretended final : public RunningLaunch {
   public:
    Pretended(PretendedBackend& backend, const LaunchPlan& plan, Script script)
        : backend_(backend), plan_(plan), script_(script), end_(backend.now_ + script.seconds) {
      backend_.most_at_once = std::max(backend_.most_at_once, ++backend_.running_);
    }
    ~Pretended() override { --backend_.running_; }
    std::optional<int> poll() override {
      if (killed_) return 137;
      if (asked_) return 75;
      if (backend_.now_ < end_) return std::nullopt;
      backend_.events.push_back({Event::Kind::End, plan_.id});
      for (const std::size_t row : plan_.rows) {
        if (script_.finalises) backend_.finalised_.insert(row);
        if (script_.code == 4) backend_.failed_.insert(row);
        backend_.checkpoints_[row] = std::max(backend_.checkpoints_[row], script_.checkpoint);
      }
      if (script_.loses_folder) {
        std::filesystem::remove_all(launch_folder(backend_.folder(), plan_.id));
      }
      ended_ = true;
      return script_.code;
    }
    void ask_to_stop() override {
      asked_ = true;
      backend_.asked.push_back(plan_.id);
    }
    void kill() override {
      killed_ = true;
      backend_.killed.push_back(plan_.id);
    }
    std::string cause() override { return script_.cause; }
    LifeSign life() override {
      return {.phase = script_.lives ? WorkPhase::Training : WorkPhase::StartUp,
              .beats = script_.lives ? static_cast<std::int64_t>(backend_.now_) : 0};
    }
    std::vector<LiveEvent> news() override {
      return std::vector<LiveEvent>(ended_ ? 1 : 0, {.kind = LiveKind::JobEnd});
    }

   private:
    PretendedBackend& backend_;
    const LaunchPlan& plan_;
    Script script_;
    double end_;
    bool asked_ = false, killed_ = false, ended_ = false;
  };

  std::unique_ptr<RunningLaunch> start(const LaunchRequest& request) override {
    if (request.plan.id == no_log_of) throw StorageError("log", "cannot be opened");
    started.push_back(request.plan.id);
    events.push_back({Event::Kind::Start, request.plan.id});
    gpus.push_back(request.gpus);
    cores.push_back(request.cores);
    Script script;
    auto& own = scripts_[request.plan.id];
    if (!own.empty()) {
      script = own.front();
      if (own.size() > 1) own.pop_front();
    }
    if (!fails_on.empty() && request.gpus == std::vector{fails_on}) {
      script = {.seconds = 1, .code = 1, .finalises = false};
      script.says = "NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the bus\n";
    }
    if (now_ < full_until) {
      script = {.seconds = 1, .code = 73, .finalises = false};
      script.says = "ckpt-00000020-1.h5: No space left on device (needed 4096 bytes, free 0)\n";
    }
    if (!script.says.empty()) {
      std::ofstream(request.folder / ("attempt-" + std::to_string(request.attempt) + ".log"))
          << script.says;
    }
    return std::make_unique<Pretended>(*this, request.plan, script);
  }

  TemporaryFolder folder_;
  LeaseKeeper leases_;
  std::vector<LaunchPlan> launches_;
  SupervisorOptions options_;
  std::map<std::string, std::deque<Script>> scripts_;
  std::set<std::size_t> finalised_, failed_;
  std::map<std::size_t, std::int64_t> checkpoints_;
  std::size_t running_ = 0;
  double now_ = 0;
};

inline std::vector<LaunchPlan> launches(std::size_t n, std::int64_t ranks = 1) {
  std::vector<LaunchPlan> out;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back({.id = std::string(1, static_cast<char>('a' + i)),
                   .rows = {i},
                   .cells = {std::to_string(i)},
                   .ranks = ranks,
                   .seconds = 1,
                   .bytes = 1});
  }
  return out;
}

inline SupervisorOptions slots(std::int64_t n) {
  SupervisorOptions out;
  out.slots = n;
  return out;
}

}  // namespace depthgrid::testing
