#include "cli/compare_argument.hpp"

#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/store_argument.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "sweeps/report/listing_union.hpp"

namespace depthgrid {

double real_of(const CommandLine& line, const char* name) {
  const std::string text = line.text_of(name);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(out)) return out;
  throw UserError(ExitCode::Usage, fmt::format("--{} {}: a number was expected", name, text));
}

double margin_of(const CommandLine& line) {
  const double out = real_of(line, "margin");
  if (out > 0) return out;
  throw UserError(ExitCode::Usage,
                  "--margin " + line.text_of("margin") +
                      ": a number above 0 was expected, in the unit of the metric");
}

Listing compared_listing(const CommandLine& line) {
  std::vector<std::string> names = line.list_of("STORE");
  if (names.empty()) names.emplace_back();
  std::vector<Listing> listings;
  for (const std::string& name : names) {
    Listing& listing = listings.emplace_back(StoreArgument(line, name).listing());
    for (const std::string& damage : damage_lines(listing)) log(LogLevel::Warning, damage);
    if (!line.has("all-plans")) keep_plan(listing);
  }
  return listing_union(std::move(listings));
}

}  // namespace depthgrid
