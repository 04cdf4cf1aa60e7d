#include "sweeps/compare/arms_notes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/report/bits_per_byte.hpp"

namespace depthgrid {
namespace {

constexpr std::array kMissingStatus = {CellStatus::Diverged, CellStatus::Running,
                                       CellStatus::Pending,  CellStatus::Failed,
                                       CellStatus::Oom,      CellStatus::Cancelled};

/// Lines of one kind, each with the arms of which it is true.
class LinesByText {
 public:
  void add(const std::string& text, const std::string& arm) {
    for (auto& [known, arms] : lines_) {
      if (known == text) return arms.push_back(arm);
    }
    lines_.emplace_back(text, std::vector<std::string>{arm});
  }

  /// @param beginning  stands before the arms, which stand before the text.
  std::string text(std::string_view beginning) const {
    constexpr std::size_t kMost = 6;
    std::string out;
    for (std::size_t i = 0; i < std::min(kMost, lines_.size()); ++i) {
      out +=
          fmt::format("{}{}: {}\n", beginning, fmt::join(lines_[i].second, ", "), lines_[i].first);
    }
    if (lines_.size() > kMost) {
      out += fmt::format("{}{} more: --json names all\n", beginning, lines_.size() - kMost);
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> lines_;
};

/// "pairs of seeds 0, 1; left out, as they completed in one of the two only: 2, 3 (of base)".
std::string pairs_text(const ArmMetric& metric, const std::string& baseline) {
  std::vector<std::string> parts;
  if (!metric.left_out.empty()) parts.push_back(seeds_text(metric.left_out));
  if (!metric.baseline_left_out.empty()) {
    parts.push_back(fmt::format("{} (of {})", seeds_text(metric.baseline_left_out), baseline));
  }
  return fmt::format("pairs of seed{} {}; left out, as completed in one of the two only: {}",
                     metric.pairs.size() == 1 ? "" : "s", seeds_text(metric.pairs),
                     fmt::join(parts, ", "));
}

std::string refusal_text(const BasisMismatch& refused, const std::string& metric) {
  return fmt::format("{} cannot be compared with the baseline's: {}", metric,
                     refused.text_and_advice());
}

/// "its 5 pairs are of 2 measurements of time, as seeds of one fused job share one".
std::string shared_measurements_text(const ArmMetric& metric) {
  return fmt::format(
      "its {} pairs are of {} measurement{} of time, as seeds of one fused job share one",
      metric.pairs.size(), metric.measurements, metric.measurements == 1 ? "" : "s");
}

/// Which seeds differences are of, and which differences there are none of.
std::string comparison_notes(const ArmComparison& comparison,
                             const std::vector<std::string>& metrics) {
  LinesByText pairs, refusals, mixtures, shared;
  for (const std::string& name : metrics) {
    for (const ArmResults& arm : comparison.arms) {
      const ArmMetric& metric = arm.metrics.at(name);
      if (metric.mixed) {
        mixtures.add(fmt::format("{} is not of one evaluation in all seeds: {}", name,
                                 metric.mixed.text(BasisMismatch::kInOtherSeed)),
                     arm.name);
      }
      if (metric.refused) refusals.add(refusal_text(metric.refused, name), arm.name);
      if (metric.measurements < metric.pairs.size()) {
        shared.add(fmt::format("{}: {}", name, shared_measurements_text(metric)), arm.name);
      }
      if (metric.left_out.empty() && metric.baseline_left_out.empty()) continue;
      const std::string of = metrics.size() > 1 ? " in " + name : "";
      pairs.add(pairs_text(metric, comparison.baseline), arm.name + of);
    }
  }
  return pairs.text("") + refusals.text("no difference for ") + mixtures.text("no mean for ") +
         shared.text("no interval for ");
}

/// What the means, and the differences beside them, are of.
std::string means_notes(const ArmComparison& comparison, const std::vector<std::string>& metrics) {
  bool paired = false, welch = false;
  for (const ArmResults& arm : comparison.arms) {
    for (const std::string& name : metrics) {
      const auto& difference = arm.metrics.at(name).difference;
      if (!difference) continue;
      (difference->kind == DifferenceKind::Paired ? paired : welch) = true;
    }
  }
  std::string out = "mean ± standard deviation over the n seeds whose cells completed";
  if (leaves_seeds_out(comparison, metrics)) {
    out += "; beside a difference, in both arms: `baseline` is its mean over the same seeds";
  }
  out += "\n";
  if (!paired && !welch) return out;
  out += fmt::format("difference of means, arm − baseline, with its {:.0f} % t interval{}{}\n",
                     100 * kConfidence, paired ? "; paired by seed" : "",
                     welch ? (paired ? ", or with other seeds Welch's (w)"
                                     : "; other seeds than the baseline's: Welch's (w)")
                           : "");
  if (comparison.arms.size() > 2) {
    out += "each interval holds for itself; of many arms, some differ by chance\n";
  }
  return out;
}

std::string missing_notes(const ArmComparison& comparison) {
  std::array<std::size_t, 7> counts{};
  std::size_t cells = 0, missing = 0, repeated = 0;
  for (const ArmResults& arm : comparison.arms) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += arm.counts[i];
    cells += arm.cells.size();
    missing += arm.missing();
    repeated += arm.repeated;
  }
  std::string out;
  if (missing > 0) {
    out += fmt::format("{} of {} cells are not in the means: {}\n", missing, cells,
                       missing_text(counts));
  }
  if (repeated > 0) {
    out += fmt::format("{} cell{} of a seed that {} arm has already: the first counts\n", repeated,
                       repeated == 1 ? "" : "s", repeated == 1 ? "its" : "their");
  }
  return out;
}

/// The widths that `match:` gave to arms that are shown.
std::string matched_notes(const Listing& listing, const ArmComparison& comparison) {
  std::string out;
  for (const MatchedWidth& width : listing.matched) {
    const bool shown = std::ranges::any_of(
        comparison.arms, [&width](const ArmResults& arm) { return arm.name == width.arm; });
    if (shown) out += "match: " + matched_text(width) + "\n";
  }
  return out;
}

}  // namespace

std::string missing_text(const std::array<std::size_t, 7>& counts) {
  std::vector<std::string> parts;
  for (const CellStatus status : kMissingStatus) {
    const std::size_t n = counts[static_cast<std::size_t>(status)];
    if (n > 0) parts.push_back(fmt::format("{} {}", n, name_of(status)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string seeds_text(const std::vector<std::int64_t>& seeds) {
  constexpr std::size_t kMost = 10;
  const auto end = seeds.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, seeds.size()));
  std::string out = fmt::format("{}", fmt::join(seeds.begin(), end, ", "));
  if (seeds.size() > kMost) out += fmt::format(", … ({} in all)", seeds.size());
  return out;
}

bool leaves_seeds_out(const ArmComparison& comparison, const std::vector<std::string>& metrics) {
  return std::ranges::any_of(comparison.arms, [&metrics](const ArmResults& arm) {
    return std::ranges::any_of(metrics, [&arm](const std::string& name) {
      const ArmMetric& metric = arm.metrics.at(name);
      return !metric.left_out.empty() || !metric.baseline_left_out.empty();
    });
  });
}

std::string arms_notes(const Listing& listing, const ArmComparison& comparison,
                       const std::vector<std::string>& metrics) {
  std::string out;
  if (!listing.planned) out += store_text(listing) + "\n";
  if (comparison.baseline.empty()) {
    out += "this sweep has no baseline: --baseline ARM compares with one\n";
  } else if (!comparison.baseline_selected) {
    out += fmt::format("no differences: the filter leaves no cell of the baseline {}\n",
                       comparison.baseline);
  } else {
    out += "* baseline\n";
  }
  out += means_notes(comparison, metrics) + comparison_notes(comparison, metrics);
  const auto is_old = [](const ArmResults& arm) { return arm.name.find('@') != arm.name.npos; };
  if (std::ranges::any_of(comparison.arms, is_old)) {
    out += "ARM@N: as it was in plan N of the store, before its configuration was changed\n";
  }
  out += missing_notes(comparison) + matched_notes(listing, comparison);
  return out;
}

}  // namespace depthgrid
