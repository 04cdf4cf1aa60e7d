#include "sweeps/report/provenance_notes.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/schema/leaf_value.hpp"
#include "core/config/text_format.hpp"

namespace depthgrid {
namespace {

/// "fp32 deterministic=on threads=1": the words with =, by their names. The first word follows from
/// leaves of the identity.
std::map<std::string, std::string> settings_of(const std::string& text) {
  std::map<std::string, std::string> out;
  for (const std::string& word : split_words(text)) {
    const std::size_t at = word.find('=');
    if (at != std::string::npos) out.emplace(word.substr(0, at), word.substr(at + 1));
  }
  const auto device = out.find("device");  // on a CPU this one has no effect
  if (device != out.end() && device->second == "cpu") out.erase("deterministic");
  return out;
}

/// Cells whose tokens are by the rules of an earlier release.
std::size_t of_older_rules(const Listing& listing, const std::vector<std::size_t>& cells,
                           const std::string& corpus) {
  std::size_t out = 0;
  for (const std::size_t row : cells) {
    const CellSummary& cell = listing.cells[row];
    const Value* name = listing.leaves.find(row, "data.corpus");
    const auto rules = cell.facts.find("text_rules");
    const bool here = name == nullptr || plain_text(*name) == corpus;
    const bool older = rules == cell.facts.end() || rules->second < kTextRules;
    if (here && older && cell.step > 0) ++out;
  }
  return out;
}

}  // namespace

std::map<std::string, std::map<std::string, std::size_t>> mixed_settings(
    const Listing& listing, const std::vector<std::size_t>& cells) {
  std::map<std::string, std::map<std::string, std::size_t>> out;
  for (const std::size_t row : cells) {
    for (const auto& [name, value] : settings_of(listing.cells[row].settings)) {
      ++out[name][value];
    }
  }
  std::erase_if(out, [](const auto& setting) { return setting.second.size() < 2; });
  return out;
}

std::map<std::string, int> older_text_rules(const Listing& listing,
                                            const std::vector<std::size_t>& cells) {
  std::map<std::string, int> out = listing.older_rules;
  std::erase_if(
      out, [&](const auto& entry) { return of_older_rules(listing, cells, entry.first) == 0; });
  return out;
}

std::string provenance_notes(const Listing& listing, const std::vector<std::size_t>& cells) {
  std::string out;
  for (const auto& [name, values] : mixed_settings(listing, cells)) {
    std::vector<std::string> parts;
    for (const auto& [value, count] : values) {
      parts.push_back(fmt::format("{}={} ({})", name, value, count));
    }
    out += fmt::format(
        "computed with {}: sums are in another order there, and figures may differ in their last "
        "digits (docs/identity.md)\n",
        fmt::join(parts, ", "));
  }
  for (const auto& [corpus, rules] : older_text_rules(listing, cells)) {
    const std::size_t count = of_older_rules(listing, cells, corpus);
    out += fmt::format(
        "{} cell{} of '{}' {} trained on tokens by text rules {} of an earlier release; those of "
        "this one have the number {} (docs/store-format.md, Text rules)\n",
        count, count == 1 ? "" : "s", corpus, count == 1 ? "was" : "were", rules, kTextRules);
  }
  return out;
}

}  // namespace depthgrid
