#include "core/config/probe_schedule.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// A step, or a percentage of `steps` rounded to the nearest.
std::optional<std::int64_t> step_of(const Value& entry, std::int64_t steps) {
  if (const auto* step = entry.get_if<std::int64_t>()) {
    return *step < 0 ? std::nullopt : std::optional(*step);
  }
  const auto* text = entry.get_if<std::string>();
  if (text == nullptr) return std::nullopt;
  double percent = 0;
  const char* end = text->data() + text->size();
  const auto [rest, code] = std::from_chars(text->data(), end, percent);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (code != std::errc() || (unit != "%" && unit != " %")) return std::nullopt;
  if (!(percent >= 0 && percent <= 100)) return std::nullopt;
  return std::llround(percent / 100 * static_cast<double>(steps));
}

/// `n` steps of equal ratio from 1 to `steps`.
std::vector<std::int64_t> log_spaced(std::int64_t n, std::int64_t steps) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < n && n > 1; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(n - 1);
    out.push_back(std::llround(std::pow(static_cast<double>(steps), share)));
  }
  return out;
}

}  // namespace

ProbeSchedule::ProbeSchedule(const Value& leaf, std::int64_t steps) : steps_(steps) {
  const auto refuse = [&leaf] {
    return UserError(ExitCode::Usage,
                     "schedule " + canonical_json(leaf) +
                         ": expected off, end, {every: n}, {at: [steps or percentages]} or "
                         "{log_spaced: n}, with n of 1 or more");
  };
  if (const auto* word = leaf.get_if<std::string>()) {
    if (*word != "off" && *word != "end") throw refuse();
    if (*word == "end") at_ = {steps};
    return;
  }
  const auto* map = leaf.get_if<ValueMap>();
  if (map == nullptr || map->size() != 1) throw refuse();
  const auto& [key, value] = map->front();
  if (const auto* list = value.get_if<ValueList>(); list != nullptr && key == "at") {
    for (const Value& entry : *list) {
      const auto step = step_of(entry, steps);
      if (!step) throw refuse();
      at_.push_back(*step);
    }
  } else {
    const auto* n = value.get_if<std::int64_t>();
    if (n == nullptr || *n < 1 || (key != "every" && key != "log_spaced")) throw refuse();
    if (key == "every") every_ = *n;
    if (key == "log_spaced") at_ = log_spaced(*n, steps);
  }
  at_.insert(at_.end(), {0, steps});
  std::ranges::sort(at_);
  const auto doubles = std::ranges::unique(at_);
  at_.erase(doubles.begin(), doubles.end());
  at_.erase(std::ranges::upper_bound(at_, steps), at_.end());
}

bool ProbeSchedule::due(std::int64_t step) const {
  if (every_ > 0 && step <= steps_ && step % every_ == 0) return true;
  return std::ranges::binary_search(at_, step);
}

std::int64_t ProbeSchedule::count() const {
  if (every_ == 0) return static_cast<std::int64_t>(at_.size());
  return steps_ / every_ + 1 + (steps_ % every_ != 0 ? 1 : 0);  // including 0 and the end
}

}  // namespace depthgrid
