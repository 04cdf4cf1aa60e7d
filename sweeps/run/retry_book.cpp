#include "sweeps/run/retry_book.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/base/digest.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kLongestPower = 5;  // 243 times the base

}  // namespace

RetryOptions retry_options(const CellConfig& run) {
  return {.budget = [&run](std::string_view leaf) { return run.integer(leaf); },
          .backoff = run.real("retry.backoff"),
          .breaker_failures = run.integer("retry.breaker_failures"),
          .breaker_window = static_cast<double>(run.integer("retry.breaker_window")),
          .stop_after_consecutive = run.integer("retry.stop_after_consecutive")};
}

double backoff_seconds(double base, std::int64_t n, const std::string& job) {
  const auto digest = sha256(fmt::format("{} {}", job, n));
  const double share = static_cast<double>(static_cast<unsigned char>(digest[0])) / 255;  // 0 … 1
  return base * std::pow(3.0, static_cast<double>(std::min(n, kLongestPower))) *
         (0.7 + 0.6 * share);
}

SweepEvent again_event(const std::string& launch, LaunchEnd end, const RetryBook::Verdict& verdict,
                       double pause) {
  return {.kind = SweepEventKind::LaunchAgain,
          .launch = launch,
          .end = std::string(name_of(end)),
          .seconds = pause,
          .failures = verdict.failures,
          .allowed = verdict.allowed,
          .budget = std::string(policy_of(end).budget)};
}

SweepEvent given_up_event(const LaunchRecord& last, const RetryBook::Verdict& verdict,
                          const std::string& why) {
  return {.kind = SweepEventKind::CellsGivenUp,
          .launch = last.id,
          .cells = last.cells,
          .end = std::string(name_of(last.end)),
          .node = last.host,
          .failures = verdict.failures,
          .allowed = verdict.allowed,
          .budget = std::string(policy_of(last.end).budget),
          .message = why};
}

RetryBook::Verdict RetryBook::ended(const std::string& job, LaunchEnd end, bool progressed,
                                    double now) {
  const EndPolicy& policy = policy_of(end);
  auto& counts = failures_[job];
  if (progressed) counts.clear();
  if (end == LaunchEnd::Done || end == LaunchEnd::Stopped) return {.not_before = now};
  if (policy.charged) recent_.push_back({origin_of(job), end, now});
  Verdict out;
  out.failures = ++counts[end];
  out.allowed = policy.budget.empty() ? out.failures : allowed(end);
  out.gives_up = out.failures > out.allowed;
  out.not_before =
      policy.waits ? now + backoff_seconds(options_.backoff, out.failures - 1, job) : now;
  return out;
}

std::string RetryBook::origin_of(const std::string& job) const {
  const auto origin = origins_.find(job);
  return origin == origins_.end() ? job : origin->second;
}

std::int64_t RetryBook::allowed(LaunchEnd end) const {
  const std::string_view budget = policy_of(end).budget;
  return budget.empty() ? 0 : options_.budget(budget);
}

void RetryBook::take_over(const std::string& part, const std::string& job, LaunchEnd end) {
  follow(part, job);
  failures_[part][end] = allowed(end);
}

void RetryBook::follow(const std::string& part, const std::string& job) {
  origins_[part] = origin_of(job);
}

std::optional<std::string> RetryBook::broken(double now) const {
  if (auto why = streak_.over()) return why;
  std::map<LaunchEnd, std::set<std::string_view>> failed;
  for (const Failure& failure : recent_) {
    if (now - failure.when <= options_.breaker_window) failed[failure.end].insert(failure.job);
  }
  for (const auto& [end, jobs] : failed) {
    const auto count = static_cast<std::int64_t>(jobs.size());
    if (count <= options_.breaker_failures) continue;
    return fmt::format(
        "{} launches ended as '{}' within {:.0f} s (retry.breaker_failures = {}): this machine may "
        "be broken, so nothing more is started here. See the logs in launches/, then type the "
        "same command again",
        count, name_of(end), options_.breaker_window, options_.breaker_failures);
  }
  return std::nullopt;
}

}  // namespace depthgrid
