#include "sweeps/report/listing.hpp"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/config/schema.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/report/bits_per_byte.hpp"

namespace depthgrid {
namespace {

/// Listing::derived. A plan that does not say what its cells set gives nothing.
std::vector<std::string> derived_leaves(const StoredPlan& plan) {
  std::set<std::string> set;
  const std::string* arm = nullptr;
  for (const StoredCell& cell : plan.cells) {
    if (arm != nullptr && *arm == cell.arm) continue;  // seeds set the same
    arm = &cell.arm;
    if (cell.changed.empty()) return {};
    const Value leaves = value_from_json(cell.changed);
    const auto* const map = leaves.get_if<ValueMap>();
    if (map == nullptr) return {};
    for (const auto& [leaf, value] : *map) set.insert(leaf);
  }
  std::vector<std::string> out;
  for (const auto& [leaf, value] : plan.constant) {
    const std::size_t at = find_leaf(leaf);
    const bool follows = at < schema().size() && default_value(at).is_null() && !value.is_null();
    if (follows && !set.contains(leaf)) out.push_back(leaf);
  }
  std::ranges::sort(out);
  return out;
}

/// @param cells  of the plan, in its order; empty if there is no store.
Listing heading(const StoredPlan& plan, const std::string& store, std::vector<CellSummary> cells) {
  Listing listing;
  listing.sweep = plan.name;
  listing.description = plan.description;
  listing.store = store;
  listing.metric = plan.metric;
  listing.plan_damages = plan.damages;
  listing.goal = plan.goal;
  listing.leaves = evaluation_leaves(plan);
  listing.matched = plan.matched;
  listing.constant = plan.constant;
  listing.derived = derived_leaves(plan);
  for (const StoredCell& cell : plan.cells) listing.baseline.push_back(cell.baseline);
  listing.cells = std::move(cells);
  withhold_bits_per_byte(listing);
  return listing;
}

}  // namespace

std::size_t keep_plan(Listing& listing) {
  const std::size_t all = listing.cells.size();
  const auto keep = [&listing](auto& of_cell) {
    std::decay_t<decltype(of_cell)> kept;
    for (std::size_t row = 0; row < of_cell.size(); ++row) {
      if (listing.cells[row].in_plan) kept.push_back(of_cell[row]);
    }
    of_cell = std::move(kept);
  };
  keep(listing.baseline);
  keep(listing.leaves.of_cell);
  keep(listing.withheld);
  listing.results_not_shown =
      static_cast<std::size_t>(std::ranges::count_if(listing.cells, [](const CellSummary& cell) {
        return !cell.in_plan && is_result(cell.status);
      }));
  std::erase_if(listing.cells, [](const CellSummary& cell) { return !cell.in_plan; });
  listing.not_shown = all - listing.cells.size();
  return listing.not_shown;
}

std::string other_plans_text(const Listing& listing) {
  const auto earlier = [](const CellSummary& cell) { return !cell.in_plan; };
  const auto cells = std::ranges::count_if(listing.cells, earlier);
  if (cells == 0) return {};
  const auto results = std::ranges::count_if(listing.cells, [&earlier](const CellSummary& cell) {
    return earlier(cell) && is_result(cell.status);
  });
  return fmt::format("{} cell{} of other plans ({} with a result)", cells, cells == 1 ? "" : "s",
                     results);
}

Listing list_store(const Store& store, const std::string& name, const Sweep* sweep,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  const StoredPlan plan = sweep == nullptr ? read_plan(store) : read_plan(store, *sweep);
  Listing listing = heading(plan, name, summarise(store, plan, progress));
  listing.older_rules = store.older_text_rules();
  return listing;
}

Listing list_plan(const StoredPlan& plan, const std::string& store) {
  Listing listing = heading(plan, store, {});
  listing.planned = false;
  for (const StoredCell& cell : plan.cells) {
    CellSummary row;
    row.id = cell.id;
    row.alias = cell.alias;
    row.arm = cell.arm;
    row.tag = cell.tag;
    row.seed = cell.seed;
    row.overrides = cell.overrides;
    listing.cells.push_back(std::move(row));
  }
  return listing;
}

Listing list_sweep(const Sweep& sweep, const std::string& store) {
  return list_plan(stored_plan(sweep), store);
}

std::string store_text(const Listing& listing) {
  return listing.planned ? "store " + listing.store
                         : "nothing in " + listing.store +
                               " yet: depthgrid run trains there, --store names another folder";
}

bool is_result(CellStatus status) {
  return status == CellStatus::Completed || status == CellStatus::Diverged;
}

bool is_failure(CellStatus status) {
  return status == CellStatus::Failed || status == CellStatus::Oom ||
         status == CellStatus::Cancelled;
}

std::int64_t damages_met(const Listing& listing) {
  std::int64_t out = 0;
  for (const CellSummary& cell : listing.cells) out += cell.damages_met;
  return out;
}

std::string damages_text(std::int64_t met) {
  return fmt::format("{} damaged file{} met and passed over, what {} held was computed again", met,
                     met == 1 ? " was" : "s were", met == 1 ? "it" : "they");
}

std::string damage_without_folders(const Listing& listing, std::size_t row) {
  std::string text = listing.cells[row].damage;
  std::string folder = listing.store_of(row);
  while (folder.ends_with('/')) folder.pop_back();
  folder += '/';
  const bool several_words = folder.find(' ') != folder.npos;
  for (std::size_t at = 0; several_words && (at = text.find(folder)) != text.npos;) {
    text.erase(at, folder.size());
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size() - 1) + 1;
    const std::string word = text.substr(at, end - at);
    out += word.substr(word.rfind('/') + 1);  // npos + 1: all of it
    at = end;
  }
  return out;
}

std::vector<std::string> damage_lines(const Listing& listing) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> out;
  for (const CellSummary& cell : listing.cells) {
    if (!cell.damage.empty()) out.push_back(cell.alias + ": " + cell.damage);
  }
  if (out.size() <= kMost) return out;
  const std::size_t more = out.size() - kMost;
  out.resize(kMost);
  out.push_back(fmt::format("{} more cells have damaged files: depthgrid status", more));
  return out;
}

}  // namespace depthgrid
