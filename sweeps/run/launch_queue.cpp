#include "sweeps/run/launch_queue.hpp"

#include <algorithm>

#include "sweeps/run/supervisor.hpp"

namespace depthgrid {
namespace {

constexpr double kBetweenReviews = 1;  // s
constexpr std::size_t kLaunchesAReview = 16;

}  // namespace

LaunchQueue::LaunchQueue(const std::vector<LaunchPlan>& launches, double memory_bytes,
                         SupervisorBackend& backend)
    : backend_(backend),
      launches_(launches.begin(), launches.end()),
      ready_(needs_of(launches), memory_bytes) {}

std::vector<JobNeeds> LaunchQueue::needs_of(const std::vector<LaunchPlan>& launches) const {
  std::vector<JobNeeds> out;
  for (const LaunchPlan& launch : launches) {
    out.push_back({.ranks = launch.ranks,
                   .bytes = launch.bytes,
                   .alone = backend_.runs_alone(launch.ranks),
                   .after = launch.after});
  }
  return out;
}

bool LaunchQueue::finalised(std::size_t index) const {
  return std::ranges::all_of(launches_[index].rows,
                             [&](std::size_t row) { return backend_.finalised(row); });
}

bool LaunchQueue::over_if_finalised(std::size_t index) {
  if (!finalised(index)) return false;
  const auto done = [&](std::size_t row) { return backend_.done(row); };
  if (!std::ranges::all_of(launches_[index].rows, done)) without_result_.insert(index);
  ready_.done(index);
  return true;
}

std::optional<std::size_t> LaunchQueue::take(std::int64_t slots, double now) {
  if (slots < 1) return std::nullopt;
  review_some(now);
  while (const auto next = ready_.take(slots, now)) {
    try {
      if (!over_if_finalised(*next)) return next;
    } catch (...) {  // of a store that cannot be read now
      ready_.give_back(*next, now);
      throw;
    }
  }
  return std::nullopt;
}

void LaunchQueue::replace(std::size_t index, const std::vector<LaunchPlan>& parts,
                          double not_before) {
  launches_.insert(launches_.end(), parts.begin(), parts.end());
  ready_.replace(index, needs_of(parts), not_before);
}

/// Asks the store of a launch that does not run.
void LaunchQueue::review(std::size_t index) {
  if (ready_.is_taken(index)) return;
  if (!ready_.is_done(index)) {
    over_if_finalised(index);
  } else if (without_result_.contains(index) && !finalised(index)) {
    without_result_.erase(index);
    ready_.reopen(index);
  }
}

void LaunchQueue::review_some(double now) {
  if (now < next_review_) return;
  next_review_ = now + kBetweenReviews;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < launches_.size() && asked < kLaunchesAReview; ++i) {
    reviewed_ = (reviewed_ + 1) % launches_.size();
    if (!ready_.is_awaited(reviewed_) && !without_result_.contains(reviewed_)) continue;
    review(reviewed_);
    ++asked;
  }
}

bool LaunchQueue::left_within(std::int64_t slots) {
  for (std::size_t i = 0; i < launches_.size(); ++i) review(i);
  return any_within(slots);
}

const LaunchPlan* LaunchQueue::left_beyond(std::int64_t slots) const {
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (!ready_.is_done(i) && launches_[i].ranks > slots) return &launches_[i];
  }
  return nullptr;
}

}  // namespace depthgrid
