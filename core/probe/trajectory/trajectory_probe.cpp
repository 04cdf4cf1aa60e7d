#include "core/probe/trajectory/trajectory_probe.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// Tokens that are worked on at once: enough for the cost of calls not to count, few enough for the
/// cache. Blocks hold whole sequences and do not depend on the size of a pass.
constexpr std::int64_t kBlockTokens = 128;

std::int64_t rounded_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// (classes, n, T) bool.
at::Tensor members_of(const ProbeSet& set) {
  std::vector<at::Tensor> members;
  for (const TokenClass& one : set.classes) members.push_back(one.member);
  return at::stack(members);
}

/// (L + 1, tokens, C) double: some sequences of one cell.
at::Tensor paths_of(const std::vector<at::Tensor>& states, std::int64_t cell, std::int64_t first,
                    std::int64_t count) {
  std::vector<at::Tensor> paths;
  for (const at::Tensor& state : states) {
    paths.push_back(state[cell].narrow(0, first, count).flatten(0, 1));
  }
  return at::stack(paths).to(at::kDouble);
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

void TrajectoryProbe::measure(std::int64_t step, RecordSink& out) {
  const at::NoGradGuard no_gradients;
  const ProbeSet& set = subject_.set();
  const std::int64_t sequences = set.sequences(), cells = subject_.cells();
  const std::int64_t block = rounded_up(kBlockTokens, set.tokens()) / set.tokens();
  const std::int64_t pass = rounded_up(options_.batch, block);
  const at::Tensor members = members_of(set);
  at::Tensor times;
  std::vector<CellTrajectory> found;
  KeptStates kept(options_.kept);
  for (std::int64_t first = 0; first < sequences; first += pass) {
    const std::int64_t count = std::min(pass, sequences - first);
    const std::vector<at::Tensor> states = subject_.states(first, count);
    if (first == 0) {
      times = subject_.edge_times().to(states[0].device());
      for (std::int64_t e = 0; e < cells; ++e) found.emplace_back(sizes(), states[0].size(3));
    }
    kept.add(states, first);
    for (std::int64_t begin = 0; begin < count; begin += block) {
      const std::int64_t n = std::min(block, count - begin);
      const at::Tensor member = members.narrow(1, first + begin, n).flatten(1);
      for (std::int64_t e = 0; e < cells; ++e) {
        found[static_cast<std::size_t>(e)].add(paths_of(states, e, begin, n), times[e], member);
      }
    }
  }
  for (std::size_t e = 0; e < found.size(); ++e) {
    const std::vector<std::vector<double>> rows = found[e].numbers();
    for (std::size_t i = 0; i < series_.size(); ++i) out.write(series_[i], e, rows[i]);
  }
  kept.hand_over(step, subject_, out);
}

}  // namespace depthgrid
