#include "sweeps/report/listing_union.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// Whether another value makes another experiment; digests of files ("data.corpus@sha256") do.
bool is_of_experiment(const std::string& leaf) {
  const std::size_t at = find_leaf(leaf);
  if (at >= schema().size()) return leaf.find('@') != leaf.npos;
  const LeafClass kind = schema()[at].leaf_class;
  return kind != LeafClass::Execution && kind != LeafClass::Observation;
}

/// Whether no cell of these listings sets a leaf.
bool is_derived(const std::vector<Listing>& listings, const std::string& leaf) {
  return std::ranges::all_of(listings, [&leaf](const Listing& listing) {
    return find_key(listing.constant, leaf) == nullptr ||
           std::ranges::binary_search(listing.derived, leaf);
  });
}

/// Leaves that vary in a listing, or have several values among them; a leaf whose value only
/// follows from these is none of them.
std::set<std::string> varying_leaves(const std::vector<Listing>& listings) {
  std::set<std::string> out, between, followers;
  std::map<std::string, Value> first;
  for (const Listing& listing : listings) {
    for (const CellSummary& cell : listing.cells) {
      for (const auto& [leaf, value] : cell.overrides) out.insert(leaf);
    }
    for (const auto& [leaf, value] : listing.constant) {
      const auto [at, fresh] = first.emplace(leaf, value);
      if (!fresh && at->second != value && is_of_experiment(leaf)) between.insert(leaf);
    }
  }
  for (const std::string& leaf : between) {
    (is_derived(listings, leaf) ? followers : out).insert(leaf);
  }
  out.erase("seed");
  if (out.empty()) out = std::move(followers);  // by another rule: nothing else distinguishes them
  return out;
}

/// Adds the cells of one store.
class UnionBuilder {
 public:
  explicit UnionBuilder(Listing& out) : out_(out) {}

  void add(Listing&& from, const std::set<std::string>& leaves) {
    const std::size_t sets = out_.leaves.sets.size();
    std::ranges::move(from.leaves.sets, std::back_inserter(out_.leaves.sets));
    for (std::size_t row = 0; row < from.cells.size(); ++row) {
      CellSummary& cell = from.cells[row];
      for (const auto& [leaf, value] : from.constant) {
        if (leaves.contains(leaf) && find_key(cell.overrides, leaf) == nullptr) {
          cell.overrides.emplace_back(leaf, value);
        }
      }
      sort_map(cell.overrides);
      const auto [at, fresh] = rows_.emplace(cell.id, out_.cells.size());
      out_.repeated += fresh ? 0 : 1;
      const bool better = !fresh && cell.status == CellStatus::Completed &&
                          out_.cells[at->second].status != CellStatus::Completed;
      if (!fresh && !better) continue;
      if (fresh) grow();
      const std::size_t to = at->second;
      out_.cells[to] = std::move(cell);
      out_.baseline[to] = out_.baseline[to] || from.baseline[row];
      out_.leaves.of_cell[to] = sets + from.leaves.of_cell[row];
      out_.withheld[to] =
          row < from.withheld.size() ? from.withheld[row] : std::vector<std::string>();
      out_.store_of_cell[to] = out_.stores.size();
    }
    out_.stores.push_back(from.store);
    std::ranges::move(from.tables, std::back_inserter(out_.tables));
    out_.not_shown += from.not_shown;
    out_.results_not_shown += from.results_not_shown;
    std::ranges::move(from.plan_damages, std::back_inserter(out_.plan_damages));
    out_.older_rules.merge(from.older_rules);
  }

 private:
  void grow() {
    out_.cells.emplace_back();
    out_.baseline.push_back(false);
    out_.leaves.of_cell.push_back(0);
    out_.withheld.emplace_back();
    out_.store_of_cell.push_back(0);
  }

  Listing& out_;
  std::map<CellId, std::size_t> rows_;
};

}  // namespace

Listing listing_union(std::vector<Listing> listings) {
  if (listings.empty()) throw UserError(ExitCode::Usage, "no store is named");
  if (listings.size() == 1) return std::move(listings.front());
  const std::set<std::string> leaves = varying_leaves(listings);
  Listing out;
  const auto asks = [](const Listing& listing) { return listing.tables.empty(); };
  const auto at = std::ranges::find_if(listings, asks);  // a table holds no question
  const Listing& first = at == listings.end() ? listings.front() : *at;
  out.sweep = first.sweep;
  out.description = first.description;
  out.store = listings.front().store;
  out.metric = first.metric;
  out.goal = first.goal;
  out.matched = first.matched;
  out.constant = first.constant;
  for (const Listing& listing : listings) {
    std::erase_if(out.constant, [&listing](const auto& entry) {
      const Value* const there = find_key(listing.constant, entry.first);
      return there == nullptr || *there != entry.second;
    });
  }
  UnionBuilder builder(out);
  for (std::size_t store = 0; store < listings.size(); ++store) {
    const Listing& own = listings[store];
    const bool same = own.metric == out.metric && own.goal == out.goal;
    if (own.tables.empty() && !same) {
      out.other_questions.push_back({store, own.metric, own.goal});
    }
  }
  for (Listing& listing : listings) {
    out.planned = out.planned && listing.planned;
    builder.add(std::move(listing), leaves);
  }
  return out;
}

}  // namespace depthgrid
