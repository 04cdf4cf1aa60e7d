#include "sweeps/report/listing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "storage/plan_sequence.hpp"

namespace depthgrid {
namespace {

double leaf_of(const StoredPlan& plan, const StoredCell& cell, const char* path) {
  const Value* value = find_key(cell.varying, path);
  if (value == nullptr) value = find_key(plan.constant, path);
  return value != nullptr && value->is_number() ? value->number() : std::nan("");
}

std::string eval_windows(const StoredPlan& plan) {
  std::size_t sliding = 0;
  for (const StoredCell& cell : plan.cells) {
    sliding += leaf_of(plan, cell, "eval.stride") < leaf_of(plan, cell, "data.seq_len") ? 1 : 0;
  }
  if (sliding == 0) return "disjoint";
  return sliding == plan.cells.size() ? "sliding" : "mixed";
}

/// How many windows an evaluation has looked at.
struct WindowCount {
  const char* leaf;    // the number asked for; null: all
  const char* tokens;  // metric: what they hold
};
constexpr WindowCount kPeriodic = {"eval.windows", "eval_tokens.valid"};
constexpr WindowCount kFinal = {"eval.final_windows", "final_tokens.valid"};

/// The number asked for; 0 = all, also where the split has fewer: then there are fewer tokens than
/// that many windows hold, of which one may be shorter.
/// @param metrics  of the cell, which may be unknown.
double windows_of(const StoredPlan& plan, const StoredCell& cell, const WindowCount& count,
                  const std::map<std::string, double>* metrics) {
  const double asked = leaf_of(plan, cell, count.leaf);
  if (std::isnan(asked)) return 0;
  if (metrics == nullptr || !metrics->contains(count.tokens)) return asked;
  const double fresh = leaf_of(plan, cell, "eval.stride");  // tokens that a window adds, at least
  return metrics->at(count.tokens) <= (asked - 1) * fresh ? 0 : asked;
}

/// @param cells  of the plan, in its order; empty if there is no store.
std::string windows_text(const StoredPlan& plan, const std::vector<CellSummary>& cells,
                         const WindowCount& count) {
  std::set<double> numbers;
  for (std::size_t row = 0; row < plan.cells.size(); ++row) {
    const auto* metrics = cells.empty() ? nullptr : &cells[row].metrics;
    numbers.insert(windows_of(plan, plan.cells[row], count, metrics));
  }
  if (numbers.size() > 1) return "numbers of windows that differ between cells";
  if (numbers.empty() || *numbers.begin() == 0) return "the whole split";
  return shortest(*numbers.begin()) + " windows";
}

/// Corpus, with the digest of a user's own, and tokeniser.
std::string data_text(const StoredPlan& plan, const StoredCell& cell) {
  std::string out;
  for (const char* path : {"data.corpus", "data.corpus@sha256", "data.tokenizer"}) {
    const Value* value = find_key(cell.varying, path);
    if (value == nullptr) value = find_key(plan.constant, path);
    if (value != nullptr) out += (out.empty() ? "" : " ") + plain_text(*value);
  }
  return out;
}

/// @param cells  as windows_text().
Listing heading(const StoredPlan& plan, const std::string& store, std::vector<CellSummary> cells) {
  Listing listing;
  listing.sweep = plan.name;
  listing.store = store;
  listing.metric = plan.metric;
  listing.plan_damages = plan.damages;
  listing.goal = plan.goal;
  listing.eval_windows = eval_windows(plan);
  listing.periodic_windows = windows_text(plan, cells, kPeriodic);
  listing.final_windows = windows_text(plan, cells, kFinal);
  for (const StoredCell& cell : plan.cells) {
    listing.baseline.push_back(cell.baseline);
    listing.texts.push_back(data_text(plan, cell));
  }
  listing.cells = std::move(cells);
  return listing;
}

}  // namespace

std::size_t keep_plan(Listing& listing) {
  const std::size_t all = listing.cells.size();
  std::vector<bool> baseline;
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < all; ++row) {
    if (!listing.cells[row].in_plan) continue;
    baseline.push_back(listing.baseline[row]);
    if (row < listing.texts.size()) texts.push_back(std::move(listing.texts[row]));
  }
  listing.baseline = std::move(baseline);
  listing.texts = std::move(texts);
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

Listing list_store(const Store& store, const std::string& name, const Sweep* sweep) {
  const StoredPlan plan = sweep == nullptr ? read_plan(store) : read_plan(store, *sweep);
  return heading(plan, name, summarise(store, plan));
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
