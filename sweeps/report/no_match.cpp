#include "sweeps/report/no_match.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/report/filter.hpp"
#include "sweeps/report/level_text.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

/// The values that cells have, each once, in order: "4, 8 or 16".
std::string values_text(const Listing& listing, const std::string& name) {
  constexpr std::size_t kMost = 8;
  std::vector<Value> values;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    values.push_back(query_value(listing, row, name));
  }
  std::ranges::sort(values,
                    [](const Value& a, const Value& b) { return sorts_before(a, b, false); });
  values.erase(std::ranges::unique(values).begin(), values.end());
  const bool numbers = std::ranges::all_of(values, &Value::is_number);
  if (values.size() > kMost && numbers) {
    return fmt::format("from {} to {}", level_text(values.front()), level_text(values.back()));
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kMost, values.size()); ++i) {
    texts.push_back(level_text(values[i]));
  }
  if (values.size() > kMost) {
    return fmt::format("{} and {} more", fmt::join(texts, ", "), values.size() - kMost);
  }
  if (texts.size() < 2) return texts.empty() ? "null" : texts.front();
  const std::string last = texts.back();
  texts.pop_back();
  return fmt::format("{} or {}", fmt::join(texts, ", "), last);
}

}  // namespace

std::string no_match_text(const Listing& listing, const std::string& filter) {
  std::vector<std::string> parts;
  for (const std::string& name : names_in_filter(filter, query_names(listing))) {
    parts.push_back(fmt::format("{} is {}", name, values_text(listing, name)));
  }
  return fmt::format("no cell meets the condition '{}': {}", filter, fmt::join(parts, "; "));
}

}  // namespace depthgrid
