#include "sweeps/compare/design.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "sweeps/report/filter.hpp"
#include "sweeps/report/level_text.hpp"

namespace depthgrid {
namespace {

/// What a group is known by: the level, or an arm.
struct GroupKey {
  std::string name;
  bool has_level = false;
  auto operator<=>(const GroupKey&) const = default;
};

GroupKey key_of(const Listing& listing, std::size_t row, const std::string& factor) {
  const CellSummary& cell = listing.cells[row];
  if (factor == "arm") return {cell.arm, false};
  if (factor == "tag") return {cell.tag.empty() ? cell.arm : cell.tag, false};
  if (factor == "store") return {listing.store_of(row), false};
  if (const Value* level = level_of(listing, row, factor)) return {level_text(*level), true};
  return {cell.tag.empty() ? cell.arm : cell.tag, false};
}

Value layers_of(const Listing& listing, std::size_t row) {
  constexpr std::string_view kLayers = "model.n_layers";
  const Value* out = level_of(listing, row, kLayers);
  if (out == nullptr) out = find_key(listing.constant, kLayers);
  return out == nullptr ? Value() : *out;
}

/// Whether a level that is a number is written as this fraction.
bool is_written(const Value& level, std::string_view text, const Value& layers) {
  return level.is_number() && fraction_of(text, layers) == level.number();
}

/// The group that the text names, among those of all cells.
std::string named_group(const Listing& listing, const Design& design, std::string_view text) {
  std::set<std::string> exact, beginning, all;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const GroupKey key = key_of(listing, row, design.factor);
    const std::string& tag = key.has_level ? std::string() : listing.cells[row].tag;
    all.insert(key.name);
    const Value* const level = key.has_level ? level_of(listing, row, design.factor) : nullptr;
    if (key.name == text || tag == text) exact.insert(key.name);
    if (level != nullptr && is_written(*level, text, layers_of(listing, row))) {
      exact.insert(key.name);
    }
    const bool begins = key.name.starts_with(text) || tag.starts_with(text) ||
                        (level != nullptr && plain_text(*level).starts_with(text));
    if (begins) beginning.insert(key.name);
  }
  const std::set<std::string>& found = exact.empty() ? beginning : exact;
  if (found.size() == 1) return *found.begin();
  const std::string one = design.of_arms() ? "arm or tag" : "level of " + design.factor;
  const std::string many = design.of_arms() ? "arms" : "levels";
  throw UserError(
      ExitCode::Usage,
      found.empty()
          ? fmt::format("no {} begins with '{}'; {} are: {}", one, text, many, fmt::join(all, "; "))
          : fmt::format("'{}' means several {}: {}", text, many, fmt::join(found, "; ")));
}

/// The group of the sweep's own baseline.
std::string own_baseline(const Listing& listing, const Design& design) {
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    if (listing.baseline[row]) return key_of(listing, row, design.factor).name;
  }
  return design.of_arms() || design.groups.empty() ? std::string() : design.groups.front().name;
}

/// Leaves that vary within a group, and those that only differ between groups.
void sort_leaves(const Listing& listing, const std::vector<std::size_t>& rows, Design& design) {
  std::set<std::string> leaves;
  for (const std::size_t row : rows) {
    for (const auto& [path, value] : listing.cells[row].overrides) leaves.insert(path);
  }
  leaves.erase("seed");
  leaves.erase(design.factor);
  for (const MatchedWidth& width : listing.matched) leaves.erase(width.leaf);  // it follows
  for (const std::string& leaf : leaves) {
    const auto text = [&](std::size_t row) {
      const Value* value = level_of(listing, row, leaf);
      return value == nullptr ? std::string("not read") : canonical_json(*value);
    };
    bool within = false;
    std::set<std::string> between;
    for (const ComparedGroup& group : design.groups) {
      std::set<std::string> own;
      for (const std::size_t row : group.cells) own.insert(text(row));
      within = within || own.size() > 1;
      if (group.level) between.insert(own.begin(), own.end());
    }
    if (within) {
      design.others.push_back(leaf);
    } else if (between.size() > 1) {
      design.moving_with.push_back(leaf);
    }
  }
}

}  // namespace

const Value* level_of(const Listing& listing, std::size_t row, std::string_view leaf) {
  return find_key(listing.cells[row].overrides, leaf);
}

std::vector<std::string> factor_names(const Listing& listing) {
  std::set<std::string> leaves;
  for (const CellSummary& cell : listing.cells) {
    for (const auto& [path, value] : cell.overrides) leaves.insert(path);
  }
  leaves.erase("seed");
  std::vector<std::string> out = {"arm", "tag"};
  if (!listing.stores.empty()) out.emplace_back("store");
  out.insert(out.end(), leaves.begin(), leaves.end());
  return out;
}

Design design_of(const Listing& listing, const std::vector<std::size_t>& rows,
                 const std::string& factor, std::string_view baseline) {
  Design out;
  out.factor = factor;
  std::vector<std::size_t> sorted = rows;
  std::ranges::sort(sorted);
  std::map<GroupKey, std::size_t> index;
  for (const std::size_t row : sorted) {
    const CellSummary& cell = listing.cells[row];
    const GroupKey key = key_of(listing, row, factor);
    const auto [at, fresh] = index.emplace(key, out.groups.size());
    if (fresh) {
      ComparedGroup& group = out.groups.emplace_back();
      group.name = key.name;
      if (key.has_level) group.level = *level_of(listing, row, factor);
    }
    ComparedGroup& group = out.groups[at->second];
    if (group.tag.empty() && !group.level && factor != "store") group.tag = cell.tag;
    group.cells.push_back(row);
    ++group.counts[static_cast<std::size_t>(cell.status)];
  }
  std::ranges::stable_partition(out.groups, [&out](const ComparedGroup& group) {
    return out.of_arms() || group.level.has_value();
  });
  const bool arms_of_one_store =
      factor == "arm" && listing.stores.empty() && listing.tables.empty();
  if (!arms_of_one_store) sort_leaves(listing, sorted, out);  // arms differ in nothing else
  out.combination.resize(listing.cells.size());
  for (const std::size_t row : sorted) {
    ValueMap choice;
    for (const std::string& leaf : out.others) {
      const Value* value = level_of(listing, row, leaf);
      if (value != nullptr) choice.emplace_back(leaf, *value);
    }
    out.combination[row] = canonical_json(Value(std::move(choice)));
  }
  out.baseline_name =
      baseline.empty() ? own_baseline(listing, out) : named_group(listing, out, baseline);
  const auto at = std::ranges::find(out.groups, out.baseline_name, &ComparedGroup::name);
  if (at != out.groups.end()) {
    at->baseline = true;
    out.baseline = static_cast<std::size_t>(at - out.groups.begin());
  }
  return out;
}

}  // namespace depthgrid
