#include "sweeps/plan/ready_jobs.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace depthgrid {

ReadyJobs::ReadyJobs(const std::vector<FusedJob>& jobs)
    : waits_for_(jobs.size(), 0), before_(jobs.size()), left_(jobs.size()) {
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    ranks_.push_back(jobs[j].ranks);
    known[jobs[j].id] = j;
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (const std::string& id : jobs[j].after) {
      const auto source = known.find(id);
      if (source == known.end()) continue;
      before_[source->second].push_back(j);
      ++waits_for_[j];
    }
    if (waits_for_[j] == 0) give_back(j);
  }
}

std::optional<std::size_t> ReadyJobs::take(std::int64_t ranks) {
  std::set<std::size_t>* first = nullptr;
  for (auto& [wanted, jobs] : ready_) {
    if (wanted > ranks) break;
    if (!jobs.empty() && (first == nullptr || *jobs.begin() < *first->begin())) first = &jobs;
  }
  if (first == nullptr) return std::nullopt;
  return first->extract(first->begin()).value();
}

void ReadyJobs::done(std::size_t job) {
  --left_;
  for (const std::size_t next : before_[job]) {
    if (--waits_for_[next] == 0) give_back(next);
  }
}

void ReadyJobs::give_back(std::size_t job) {
  ready_[ranks_[job]].insert(job);
}

}  // namespace depthgrid
