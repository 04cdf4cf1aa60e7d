#include "sweeps/page/sight_words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/value.hpp"
#include "storage/columns/variables.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostSpokenArms = 6;

bool over_training(const ProbePicture& picture) {
  return picture.of.axis == "probe_step";
}

/// "5 seeds of each arm", "3 to 5 seeds of an arm".
std::string seeds_of_sights(std::span<const ArmSight> sights) {
  const auto [least, most] = std::ranges::minmax(sights, {}, &ArmSight::seeds);
  if (least.seeds == most.seeds) {
    return fmt::format("{} seed{} of each arm", most.seeds, most.seeds == 1 ? "" : "s");
  }
  return fmt::format("{} to {} seeds of an arm", least.seeds, most.seeds);
}

std::string time_of_sights(const ProbePicture& picture, std::span<const ArmSight> sights) {
  if (over_training(picture)) return "at each measurement of the probe";
  double first = kNaN, last = kNaN;
  for (const ArmSight& sight : sights) {
    first = std::fmin(first, sight.first_step);
    last = std::fmax(last, sight.last_step);
  }
  if (std::isnan(last)) return "at the end";
  const std::string steps = first == last
                                ? fmt::format("step {}", shortest(last))
                                : fmt::format("steps {} to {}", shortest(first), shortest(last));
  return fmt::format("at the last measurement of the probe ({})", steps);
}

/// "from 0.5 at 1 to 0.7 at 6" of a line; empty without a number.
std::string course_of(const ArmSight& sight, std::size_t line) {
  const std::size_t n = sight.names.size();
  std::optional<std::size_t> first, last;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(sight.mean[line * n + i])) continue;
    if (!first) first = i;
    last = i;
  }
  if (!first) return {};
  const auto value = [&](std::size_t i) { return chart_number(sight.mean[line * n + i]); };
  if (*first == *last) return fmt::format("{} at {}", value(*first), sight.names[*first]);
  return fmt::format("from {} at {} to {} at {}", value(*first), sight.names[*first], value(*last),
                     sight.names[*last]);
}

/// Lowest and highest entry, with their places.
std::string extremes_of(const ArmSight& sight) {
  const std::size_t n = sight.names.size();
  std::optional<std::size_t> low, high;
  for (std::size_t i = 0; i < sight.mean.size(); ++i) {
    if (std::isnan(sight.mean[i])) continue;
    if (!low || sight.mean[i] < sight.mean[*low]) low = i;
    if (!high || sight.mean[i] > sight.mean[*high]) high = i;
  }
  if (!low) return {};
  const auto place = [&](std::size_t i) {
    const std::string& line = sight.lines[i / n];
    return fmt::format("{} at {}{}", chart_number(sight.mean[i]), line.empty() ? "" : line + ", ",
                       sight.names[i % n]);
  };
  return fmt::format("lowest {}, highest {}", place(*low), place(*high));
}

std::string summary_of(const ProbePicture& picture, const ArmSight& sight) {
  if (picture.form == PictureForm::Maps) return extremes_of(sight);
  std::vector<std::string> out;
  const std::size_t last = sight.lines.empty() ? 0 : sight.lines.size() - 1;
  for (std::size_t line = 0; line < sight.lines.size(); ++line) {
    if (line > 0 && line < last) continue;
    const std::string course = course_of(sight, line);
    if (course.empty()) continue;
    const std::string& entry = sight.lines[line];
    out.push_back(entry.empty() ? course
                                : fmt::format("{} {} {}", picture.by_label, entry, course));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string arm_name(const ArmSight& sight, const std::vector<ComparedRow>& arms) {
  return without_folders(arms.at(sight.arm).group.name);
}

}  // namespace

std::string sight_label(std::string_view variable) {
  const Variable* const known = find_variable(variable);
  const bool unit = known != nullptr && known->units != "1";
  return unit ? fmt::format("{} ({})", variable, known->units) : std::string(variable);
}

std::string sight_introduction(const ProbePicture& picture, std::span<const ArmSight> sights) {
  const Variable* const variable = find_variable(picture.of.variable);
  return fmt::format("{}: {}, {}; means over {}.", sight_label(picture.of.variable),
                     variable == nullptr ? "" : variable->long_name,
                     time_of_sights(picture, sights), seeds_of_sights(sights));
}

std::string sight_summary(const ProbePicture& picture, std::span<const ArmSight> sights,
                          const std::vector<ComparedRow>& arms) {
  std::vector<std::string> out;
  for (const ArmSight& sight : sights.first(std::min(sights.size(), kMostSpokenArms))) {
    const std::string summary = summary_of(picture, sight);
    if (!summary.empty()) out.push_back(fmt::format("{}: {}", arm_name(sight, arms), summary));
  }
  if (sights.size() > kMostSpokenArms) {
    out.push_back(fmt::format("and {} more", sights.size() - kMostSpokenArms));
  }
  return out.empty() ? "" : fmt::format("{}.", fmt::join(out, "; "));
}

Table sight_table(const ProbePicture& picture, std::span<const ArmSight> sights,
                  const std::vector<ComparedRow>& arms) {
  const bool lines = !picture.of.by.empty();
  Table out{{{"arm"}}, {}};
  if (lines) out.columns.push_back({std::string(picture.of.by)});
  for (const std::string_view title :
       {picture.of.axis, picture.of.variable, std::string_view("lowest"),
        std::string_view("highest"), std::string_view("seeds")}) {
    out.columns.push_back({std::string(title)});
  }
  for (const ArmSight& sight : sights) {
    const std::size_t n = sight.names.size();
    for (std::size_t i = 0; i < sight.mean.size(); ++i) {
      if (std::isnan(sight.mean[i])) continue;
      std::vector<std::string> row = {arms.at(sight.arm).group.name};
      if (lines) row.push_back(sight.lines[i / n]);
      for (const std::string& one :
           {sight.names[i % n], shortest(sight.mean[i]), shortest(sight.low[i]),
            shortest(sight.high[i]), std::to_string(sight.seeds)}) {
        row.push_back(one);
      }
      out.rows.push_back(std::move(row));
    }
  }
  return out;
}

std::string sight_omissions(std::span<const ArmSight> sights,
                            const std::vector<ComparedRow>& arms) {
  std::vector<std::string> out;
  for (const ArmSight& sight : sights) {
    if (sight.partial == 0) continue;
    out.push_back(fmt::format("{} ({})", arm_name(sight, arms), sight.partial));
  }
  if (out.empty()) return {};
  return fmt::format("Left out, since not all seeds have them, are places of {}.",
                     fmt::join(out, ", "));
}

}  // namespace depthgrid
