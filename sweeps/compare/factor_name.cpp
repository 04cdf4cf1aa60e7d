#include "sweeps/compare/factor_name.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/config/sweep/leaf_reader.hpp"
#include "core/config/yaml/diagnostics.hpp"
#include "sweeps/compare/design.hpp"
#include "sweeps/report/filter.hpp"
#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kListedBy = "depthgrid results STORE --csv";

bool ends_in(std::string_view path, std::string_view word) {
  return path == word || (path.ends_with(word) && path[path.size() - word.size() - 1] == '.');
}

/// The leaves that vary, the nearest of many: "these vary: train.lr, train.steps".
std::string varying_text(const std::vector<std::string>& factors, std::string_view word) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> leaves;
  for (const std::string& name : factors) {
    if (name.find('.') != name.npos) leaves.push_back(name);
  }
  if (leaves.empty()) return "no leaf varies: --by arm compares arms";
  std::ranges::stable_sort(leaves, {}, [word](const std::string& name) {
    return std::min(edit_distance(word, name),
                    edit_distance(word, std::string_view(name).substr(name.rfind('.') + 1)));
  });
  const std::size_t more = leaves.size() - std::min(kMost, leaves.size());
  leaves.resize(leaves.size() - more);
  std::string out = fmt::format("{}: {}", leaves.size() == 1 ? "this varies" : "these vary",
                                fmt::join(leaves, ", "));
  if (more > 0) out += fmt::format(" and {} more ({} lists all)", more, kListedBy);
  return out;
}

}  // namespace

std::string factor_named(const Listing& listing, std::string_view option, const std::string& word) {
  const std::vector<std::string> factors = factor_names(listing);
  const auto is_meant = [&word](const std::string& name) { return ends_in(name, word); };
  const auto meant = std::ranges::count_if(factors, is_meant);
  if (meant == 1) return *std::ranges::find_if(factors, is_meant);
  if (meant > 1) return resolve_name(word, factors, kListedBy);
  const std::string other(leaf_of_other_name(word));
  if (std::ranges::find(factors, other) != factors.end()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("{} {}: unknown name; did you mean {}?", option, word, other));
  }
  if (word == "seed") {
    throw UserError(ExitCode::Usage,
                    fmt::format("{} seed: seeds are the unit, by which figures are paired and over "
                                "which they are averaged, and no factor; {}",
                                option, varying_text(factors, word)));
  }
  std::vector<std::string> shared;
  for (const auto& [leaf, value] : listing.constant) {
    if (leaf == "seed" || (leaf != other && !ends_in(leaf, word))) continue;
    shared.push_back(fmt::format("{} is {}", leaf, level_text(value)));
  }
  if (shared.empty()) return resolve_name(word, factors, kListedBy);
  throw UserError(ExitCode::Usage,
                  fmt::format("{} {}: {} in every cell; {}", option, word,
                              fmt::join(shared, " and "), varying_text(factors, word)));
}

}  // namespace depthgrid
