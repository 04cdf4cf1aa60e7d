#include "core/probe/trajectory/trajectory_probe.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// (classes, n, T) bool.
at::Tensor members_of(const ProbeSet& set) {
  std::vector<at::Tensor> members;
  for (const TokenClass& one : set.classes) members.push_back(one.member);
  return at::stack(members);
}

/// (L + 1, T, C) double: one sequence of one cell.
at::Tensor path_of(const std::vector<at::Tensor>& states, std::int64_t cell,
                   std::int64_t sequence) {
  std::vector<at::Tensor> path;
  for (const at::Tensor& state : states) path.push_back(state[cell][sequence]);
  return at::stack(path).to(at::kDouble);
}

}  // namespace

TrajectoryProbe::TrajectoryProbe(const ProbeSubject& subject, TrajectoryOptions options)
    : subject_(subject), options_(std::move(options)) {
  if (options_.batch < 1) {
    throw Error("a trajectory needs at least one sequence per pass, not " +
                std::to_string(options_.batch));
  }
}

TrajectorySizes TrajectoryProbe::sizes() const {
  const ProbeSet& set = subject_.set();
  TrajectorySizes out{.steps = subject_.depth(),
                      .tokens = set.sequences() * set.tokens(),
                      .classes = {},
                      .cka = options_.cka};
  for (const TokenClass& one : set.classes) out.classes.push_back(one.name);
  return out;
}

void TrajectoryProbe::declare(RecordSink& out) {
  for (const SeriesSpec& series : trajectory_series(sizes())) {
    series_.push_back(out.declare(series));
  }
}

void TrajectoryProbe::look(std::int64_t /*step*/, RecordSink& out) {
  const at::NoGradGuard no_gradients;
  const std::int64_t sequences = subject_.set().sequences(), cells = subject_.cells();
  const at::Tensor members = members_of(subject_.set());
  at::Tensor times;
  std::vector<CellTrajectory> found;
  for (std::int64_t first = 0; first < sequences; first += options_.batch) {
    const std::int64_t count = std::min(options_.batch, sequences - first);
    const std::vector<at::Tensor> states = subject_.states(first, count);
    if (first == 0) {
      times = subject_.edge_times().to(states[0].device());
      for (std::int64_t e = 0; e < cells; ++e) found.emplace_back(sizes(), states[0].size(3));
    }
    for (std::int64_t e = 0; e < cells; ++e) {
      for (std::int64_t i = 0; i < count; ++i) {
        found[static_cast<std::size_t>(e)].add(path_of(states, e, i), times[e],
                                               members.select(1, first + i));
      }
    }
  }
  for (std::size_t e = 0; e < found.size(); ++e) {
    const std::vector<std::vector<double>> rows = found[e].numbers();
    for (std::size_t i = 0; i < series_.size(); ++i) out.write(series_[i], e, rows[i]);
  }
}

}  // namespace depthgrid
