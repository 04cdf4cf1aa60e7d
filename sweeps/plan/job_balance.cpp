#include "sweeps/plan/job_balance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

namespace depthgrid {
namespace {

// Overhead of a job, in cells: a cell alone takes about a quarter longer than in a large batch
// (small cells on two cores: 1.15-1.5 times).
constexpr double kJobOverhead = 0.25;

/// Time in seconds at which the last of `teams` ends, the longest jobs first.
double makespan_of(const std::vector<JobGroup>& groups, const std::vector<std::size_t>& pieces,
                   std::int64_t teams) {
  std::vector<double> jobs;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t n = groups[g].cells.size();
    for (std::size_t p = 0; p < pieces[g]; ++p) {
      const std::size_t size = n * (p + 1) / pieces[g] - n * p / pieces[g];
      jobs.push_back(groups[g].seconds * (static_cast<double>(size) + kJobOverhead));
    }
  }
  std::ranges::sort(jobs, std::greater<>());
  std::priority_queue free(std::greater<>(),
                           std::vector<double>(static_cast<std::size_t>(teams), 0.0));
  double last = 0;
  for (const double seconds : jobs) {
    const double end = free.top() + seconds;
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last;
}

using Pieces = std::vector<std::size_t>;  // jobs of each group

/// Moves from `pieces` one piece at a time as long as the last team ends sooner.
Pieces refined(const std::vector<JobGroup>& groups, Pieces pieces, std::int64_t teams) {
  constexpr std::size_t kManyGroups = 64;  // are balanced well already, and would take long
  if (groups.size() > kManyGroups) return pieces;
  double shortest_time = makespan_of(groups, pieces, teams);
  for (bool better = true; better;) {
    better = false;
    Pieces best = pieces;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t n : {pieces[g] + 1, pieces[g] - 1}) {
        if (n < groups[g].pieces || n > groups[g].cells.size()) continue;
        Pieces moved = pieces;
        moved[g] = n;
        const double time = makespan_of(groups, moved, teams);
        if (time >= shortest_time * 0.999) continue;
        shortest_time = time;
        best = moved;
        better = true;
      }
    }
    pieces = best;
  }
  return pieces;
}

}  // namespace

std::size_t pieces_for(const JobGroup& group, std::int64_t per_job) {
  const auto n = static_cast<std::int64_t>(group.cells.size());
  return static_cast<std::size_t>((n + per_job - 1) / per_job);
}

void balance(std::vector<JobGroup>& groups, std::int64_t teams) {
  constexpr int kFinest = 16;  // jobs per team
  Pieces uncut;
  std::size_t jobs = 0;
  double total = 0;
  for (const JobGroup& g : groups) {
    uncut.push_back(g.pieces);
    jobs += g.pieces;
    total += g.seconds * static_cast<double>(g.cells.size());
  }
  if (teams < 2 || jobs >= static_cast<std::size_t>(teams) * kFinest) return;
  Pieces best = uncut;
  double shortest_time = makespan_of(groups, best, teams);
  const auto consider = [&](const Pieces& pieces, double gain) {
    const double time = makespan_of(groups, pieces, teams);
    if (time >= shortest_time * gain) return;
    shortest_time = time;
    best = pieces;
  };
  for (int finer = 1; finer <= kFinest; ++finer) {
    const double target = total / (static_cast<double>(teams) * finer);
    Pieces pieces;
    for (const JobGroup& g : groups) {
      const double fitting = std::ceil(target / g.seconds - 1e-9);
      const auto bounded = std::clamp(fitting, 1.0, static_cast<double>(g.cap));
      pieces.push_back(pieces_for(g, static_cast<std::int64_t>(bounded)));
    }
    consider(pieces, 0.995);
  }
  const Pieces equal = best;
  consider(refined(groups, uncut, teams), 0.95);
  consider(refined(groups, equal, teams), 0.95);
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].pieces = best[g];
}

}  // namespace depthgrid
