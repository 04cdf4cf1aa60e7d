#include "sweeps/plan/ready_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>

namespace depthgrid {
namespace {

std::vector<JobNeeds> needs_of(const std::vector<FusedJob>& jobs) {
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t j = 0; j < jobs.size(); ++j) known[jobs[j].id] = j;
  std::vector<JobNeeds> out;
  out.reserve(jobs.size());
  for (const FusedJob& job : jobs) {
    JobNeeds& needs = out.emplace_back();
    needs.ranks = job.ranks;
    for (const std::string& id : job.after) {
      const auto source = known.find(id);
      if (source != known.end()) needs.after.push_back(source->second);
    }
  }
  return out;
}

}  // namespace

ReadyJobs::ReadyJobs(const std::vector<JobNeeds>& jobs, double memory_bytes)
    : memory_bytes_(memory_bytes) {
  add(jobs, 0);
}

ReadyJobs::ReadyJobs(const std::vector<FusedJob>& jobs) : ReadyJobs(needs_of(jobs)) {}

void ReadyJobs::add(const std::vector<JobNeeds>& jobs, double not_before) {
  const std::size_t first = jobs_.size();
  for (const JobNeeds& needs : jobs) {
    jobs_.push_back({.needs = needs, .not_before = not_before});
  }
  left_ += jobs.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::size_t source : jobs[i].after) {
      if (is_done(source)) continue;
      jobs_[source].followers.push_back(first + i);
      ++jobs_[first + i].sources;
    }
  }
  for (std::size_t job = first; job < jobs_.size(); ++job) wait_or_rest(job);
}

void ReadyJobs::move(std::size_t job, State to) {
  Job& moved = jobs_[job];
  const std::pair kind{moved.needs.ranks, moved.needs.alone};
  if (moved.state == State::Ready) ready_[kind].erase(job);
  if (moved.state == State::Resting) resting_.erase({moved.not_before, job});
  if (moved.state == State::Taken) taken_.erase(job);
  if (moved.state == State::Done) ++left_;
  moved.state = to;
  if (to == State::Ready) ready_[kind].insert(job);
  if (to == State::Resting) resting_.emplace(moved.not_before, job);
  if (to == State::Taken) taken_.insert(job);
  if (to == State::Done) --left_;
}

/// Of a job that nobody has: where it stands now.
void ReadyJobs::wait_or_rest(std::size_t job) {
  const Job& open = jobs_[job];
  move(job, open.sources > 0         ? State::Waiting
            : open.not_before > now_ ? State::Resting
                                     : State::Ready);
}

std::optional<std::size_t> ReadyJobs::take(std::int64_t ranks, double now) {
  now_ = now;
  while (!resting_.empty() && resting_.begin()->first <= now) {
    move(resting_.begin()->second, State::Ready);
  }
  // One that must be alone is the only one that is taken.
  if (!taken_.empty() && jobs_[*taken_.begin()].needs.alone) return std::nullopt;
  const bool limited = memory_bytes_ > 0 && !taken_.empty();
  double bytes = 0;
  if (limited) {
    for (const std::size_t job : taken_) bytes += jobs_[job].needs.bytes;
  }
  const auto fits = [&](std::size_t job) {
    const double all = bytes + jobs_[job].needs.bytes;
    return !limited || std::isnan(all) || all <= memory_bytes_;
  };
  std::optional<std::size_t> first;
  for (const auto& [kind, jobs] : ready_) {
    const auto& [wanted, alone] = kind;
    if (wanted > ranks) break;
    if (alone && !taken_.empty()) continue;
    const auto at = std::ranges::find_if(jobs, fits);
    if (at != jobs.end() && (!first || *at < *first)) first = *at;
  }
  if (first) move(*first, State::Taken);
  return first;
}

void ReadyJobs::done(std::size_t job) {
  if (is_done(job)) return;
  move(job, State::Done);
  for (const std::size_t next : jobs_[job].followers) {
    if (--jobs_[next].sources == 0 && jobs_[next].state == State::Waiting) wait_or_rest(next);
  }
}

void ReadyJobs::give_back(std::size_t job, double not_before) {
  move(job, State::Waiting);
  jobs_[job].not_before = not_before;
  wait_or_rest(job);
}

void ReadyJobs::reopen(std::size_t job) {
  if (!is_done(job)) return;
  wait_or_rest(job);
  for (const std::size_t next : jobs_[job].followers) {
    ++jobs_[next].sources;
    if (jobs_[next].state == State::Ready || jobs_[next].state == State::Resting) {
      move(next, State::Waiting);
    }
  }
}

void ReadyJobs::replace(std::size_t job, const std::vector<JobNeeds>& parts, double not_before) {
  const std::size_t first = jobs_.size();
  add(parts, not_before);
  for (const std::size_t next : jobs_[job].followers) {
    jobs_[next].sources += parts.size();
    for (std::size_t part = first; part < jobs_.size(); ++part) {
      jobs_[part].followers.push_back(next);
    }
  }
  done(job);
}

bool ReadyJobs::is_awaited(std::size_t job) const {
  const Job& open = jobs_[job];
  return (open.state == State::Ready || open.state == State::Resting) && !open.followers.empty();
}

bool ReadyJobs::any_within(std::int64_t ranks) const {
  const auto ready = [&](const auto& kind) {
    return kind.first.first <= ranks && !kind.second.empty();
  };
  const auto rests = [&](const auto& timed) { return jobs_[timed.second].needs.ranks <= ranks; };
  return std::ranges::any_of(ready_, ready) || std::ranges::any_of(resting_, rests);
}

}  // namespace depthgrid
