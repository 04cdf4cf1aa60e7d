#include "sweeps/page/answer_sentence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.hpp"
#include "sweeps/compare/number_text.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostNamed = 3;

std::string differs_part(const Comparison& comparison, const EffectTable& effects,
                         std::vector<const ComparedRow*> rows) {
  std::ranges::stable_sort(rows, [](const ComparedRow* a, const ComparedRow* b) {
    return std::abs(a->evidence->contrast.mean) > std::abs(b->evidence->contrast.mean);
  });
  const std::string unit = comparison.unit.empty() ? "" : " " + comparison.unit;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostNamed); ++i) {
    const ContrastEvidence& e = *rows[i]->evidence;
    const std::string against =
        i == 0 ? fmt::format(" differs from {}", effects.baseline_name) : std::string();
    if (e.censored) {
      parts.push_back(
          fmt::format("{}{} in how many seeds reach the target", rows[i]->group.name, against));
      continue;
    }
    const PairedContrast& c = e.contrast;
    const bool better = (c.mean < 0) == (comparison.goal != "maximize");
    parts.push_back(fmt::format("{}{} by {} {}{} ({})", rows[i]->group.name, against,
                                difference_text(c.mean, c.interval.half_width()),
                                interval_text(c.interval), unit, better ? "better" : "worse"));
  }
  if (rows.size() > kMostNamed) {
    const std::size_t more = rows.size() - kMostNamed;
    parts.push_back(fmt::format("{} more differ{}", more, more == 1 ? "s" : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string answer_sentence(const Comparison& comparison, const EffectTable& effects) {
  std::vector<const ComparedRow*> differ;
  std::size_t compared = 0, none = 0, undecided = 0, refused = 0, untested = 0;
  double least = std::numeric_limits<double>::infinity(), most = 0;  // that is detectable
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence) continue;
    const ContrastEvidence& e = *row.evidence;
    ++compared;
    if (e.pairs.refused) {
      ++refused;
    } else if (std::isnan(e.p())) {
      ++untested;
    } else if (e.verdict == ContrastVerdict::Differs) {
      differ.push_back(&row);
    } else if (e.verdict == ContrastVerdict::NoEffect) {
      ++none;
    } else {
      ++undecided;
      least = std::fmin(least, e.detectable);  // passes over NaN
      most = std::fmax(most, e.detectable);
    }
  }
  if (compared == 0) return {};
  const std::string unit = comparison.unit.empty() ? "" : " " + comparison.unit;
  std::vector<std::string> parts;
  if (!differ.empty()) parts.push_back(differs_part(comparison, effects, std::move(differ)));
  // The baseline is named once.
  bool named = !parts.empty();
  const auto count = [&](std::size_t n, const char* one, const char* many) {
    if (compared == 1) {
      return fmt::format("{} difference from {} {}", comparison.exploratory ? "the" : "The",
                         effects.baseline_name, one);
    }
    const std::string from =
        named ? "" : fmt::format(" differences from {}", effects.baseline_name);
    named = true;
    return fmt::format("{} of {}{} {}", n, compared, from, n == 1 ? one : many);
  };
  if (none > 0) {
    parts.push_back(fmt::format("{} {}{}",
                                count(none, "is no effect beyond", "are no effect beyond"),
                                shortest(comparison.margin.value_or(0)), unit));
  }
  if (undecided > 0) {
    std::string part = count(undecided, "is undecided", "are undecided");
    if (most > 0) {
      const std::string from = fixed_text(least, decimals_of(least));
      const std::string to = fixed_text(most, decimals_of(most));
      part += fmt::format(": at these seeds a single test detects a difference of {}{}",
                          from == to ? to : fmt::format("{} up to {}", from, to), unit);
      if (from != to) part += ", depending on the contrast";
    }
    parts.push_back(std::move(part));
  }
  if (refused > 0) parts.push_back(count(refused, "is refused", "are refused"));
  if (untested > 0) parts.push_back(count(untested, "has no test", "have no test"));
  return fmt::format("{}{}.", comparison.exploratory ? "Exploratory: " : "",
                     fmt::join(parts, "; "));
}

}  // namespace depthgrid
