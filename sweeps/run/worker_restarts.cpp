#include "sweeps/run/worker_restarts.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace depthgrid {
namespace {

constexpr std::array kOwnFaults = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

/// The worker gives a cell up by itself when it claims it after retry.crash + 2 crashes at the same
/// step, and goes on with the others. The book must not end the run before it comes to that.
constexpr std::int64_t kUntilTheWorkerGivesUp = 2;

RetryOptions with_room(RetryOptions retries) {
  retries.budget = [budget = std::move(retries.budget)](std::string_view leaf) {
    return budget(leaf) + (leaf == policy_of(LaunchEnd::Crash).budget ? kUntilTheWorkerGivesUp : 0);
  };
  return retries;
}

bool starts_again(int code, LaunchEnd end) {
  const bool fault = std::ranges::find(kOwnFaults, code - 128) != kOwnFaults.end();
  const bool killed_for_memory = end == LaunchEnd::OutOfMemory && code > 128;
  return fault || end == LaunchEnd::Hang || end == LaunchEnd::Infrastructure || killed_for_memory;
}

}  // namespace

WorkerRestarts::WorkerRestarts(RetryOptions retries) : book_(with_room(std::move(retries))) {}

WorkerRestarts::Verdict WorkerRestarts::ended(const WorkerEnd& worker, double now) {
  Verdict out;
  out.end = end_of(worker.code, "", worker.oom_kills);
  const bool may = worker.passed_on == 0 && worker.began && worker.left;
  if (!may || !starts_again(worker.code, out.end)) return out;
  const RetryBook::Verdict verdict = book_.ended("run", out.end, worker.progressed, now);
  out.failures = verdict.failures;
  out.allowed = verdict.allowed;
  out.used_up = verdict.gives_up;
  out.again = !verdict.gives_up;
  out.seconds = std::max(0.0, verdict.not_before - now);
  return out;
}

}  // namespace depthgrid
