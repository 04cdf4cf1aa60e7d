#include "sweeps/plan/match_solver.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kParts = 16;        // parts of an interval, evaluated in one call
constexpr std::size_t kMeasurements = 10;  // most measurements of step times

/// Evaluates widths and remembers the answers.
class Search {
 public:
  Search(const MatchGoal& goal, MatchOn on, const Amounts& amounts)
      : goal_(goal), on_(on), amounts_(amounts), wanted_(amounts(on, {goal.reference()}).at(0)) {}

  void ask(const std::vector<std::int64_t>& widths) {
    std::vector<std::int64_t> asked;
    std::vector<MatchCandidate> candidates;
    for (const std::int64_t width : widths) {
      if (known_.contains(width)) continue;
      auto candidate = goal_.with(width);
      if (!candidate) continue;
      asked.push_back(width);
      candidates.push_back(std::move(*candidate));
    }
    if (asked.empty()) return;
    const std::vector<double> answers = amounts_(on_, candidates);
    for (std::size_t i = 0; i < asked.size(); ++i) known_[asked[i]] = answers.at(i);
  }

  /// Width and amount nearest to the wanted one; the smaller width in a tie.
  std::pair<std::int64_t, double> best() const {
    if (known_.empty()) throw Error("match: no width was possible");
    return *std::ranges::min_element(
        known_, {}, [this](const auto& one) { return std::abs(one.second - wanted_); });
  }

  double wanted() const { return wanted_; }
  const std::map<std::int64_t, double>& known() const { return known_; }

 private:
  const MatchGoal& goal_;
  MatchOn on_;
  const Amounts& amounts_;
  double wanted_;
  std::map<std::int64_t, double> known_;
};

/// Widths from `low` to `high` inclusive, in equal ratios where possible.
std::vector<std::int64_t> parts(std::int64_t low, std::int64_t high, std::int64_t step) {
  std::vector<std::int64_t> out;
  const bool ratio = low > 0 && high / low > 4;
  for (std::int64_t i = 0; i <= kParts; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(kParts);
    const auto a = static_cast<double>(low), b = static_cast<double>(high);
    const double at = ratio ? a * std::pow(b / a, share) : a + (b - a) * share;
    const std::int64_t steps = std::llround((at - a) / static_cast<double>(step));
    const std::int64_t width = std::min(low + steps * step, high);
    if (out.empty() || width > out.back()) out.push_back(width);
  }
  return out;
}

void search_counts(Search& search, const MatchGoal& goal) {
  std::int64_t low = goal.smallest(), high = goal.largest();
  for (;;) {
    const std::size_t before = search.known().size();
    search.ask(parts(low, high, goal.step()));
    if (search.known().size() == before) return;
    for (const auto& [width, amount] : search.known()) {
      if (amount <= search.wanted()) low = std::max(low, width);
      if (amount >= search.wanted()) {
        high = std::min(high, width);
        break;
      }
    }
    if (high - low <= goal.step()) return;
  }
}

/// The width at which the line through the two measurements nearest to the wanted amount reaches
/// it; between half and twice the width of the nearer one.
std::int64_t secant(const Search& search, const MatchGoal& goal) {
  std::vector<std::pair<double, double>> near;  // width, amount
  for (const auto& [width, amount] : search.known()) {
    near.emplace_back(static_cast<double>(width), amount);
  }
  std::ranges::sort(near, {},
                    [&](const auto& one) { return std::abs(one.second - search.wanted()); });
  const auto [w0, a0] = near[0];
  double next = w0 * search.wanted() / a0;
  if (near.size() > 1) {
    const auto [w1, a1] = near[1];
    const double slope = (a1 - a0) / (w1 - w0);
    if (slope > 0) next = w0 + (search.wanted() - a0) / slope;
  }
  next = std::clamp(next, w0 / 2, w0 * 2);
  const auto low = static_cast<double>(goal.smallest());
  const std::int64_t steps = std::llround((next - low) / static_cast<double>(goal.step()));
  return std::clamp(goal.smallest() + steps * goal.step(), goal.smallest(), goal.largest());
}

void search_times(Search& search, const MatchGoal& goal, std::int64_t start) {
  search.ask({start});
  while (search.known().size() < kMeasurements) {
    const auto [width, amount] = search.best();
    if (std::abs(amount / search.wanted() - 1) <= goal.open().tolerance) return;
    const std::size_t before = search.known().size();
    std::int64_t next = secant(search, goal);
    if (search.known().contains(next)) {  // take the neighbour towards the wanted amount
      next = width + (amount < search.wanted() ? goal.step() : -goal.step());
    }
    search.ask({std::clamp(next, goal.smallest(), goal.largest())});
    if (search.known().size() == before) return;
  }
}

[[noreturn]] void refuse(const MatchGoal& goal, const MatchedWidth& nearest) {
  Diagnostic problem = goal.where();
  problem.message = "`match`: no " + nearest.leaf + " from " + std::to_string(goal.smallest()) +
                    " to " + std::to_string(goal.largest()) + " brings arm " + nearest.arm +
                    " near enough to " + nearest.reference +
                    "; the nearest: " + matched_text(nearest) +
                    ". Vary another leaf (`vary`), or allow more (`tolerance`)";
  throw SweepErrors({problem});
}

}  // namespace

MatchedWidth solve_width(const MatchGoal& goal, const Amounts& amounts) {
  MatchedWidth out = goal.open();
  Search search(goal, out.on, amounts);
  if (out.on == MatchOn::Time) {
    Search counts(goal, MatchOn::Flops, amounts);
    search_counts(counts, goal);
    search_times(search, goal, counts.best().first);
  } else {
    search_counts(search, goal);
  }
  out.wanted = search.wanted();
  std::tie(out.value, out.achieved) = search.best();
  if (std::abs(out.difference()) > out.tolerance) refuse(goal, out);
  return out;
}

}  // namespace depthgrid
