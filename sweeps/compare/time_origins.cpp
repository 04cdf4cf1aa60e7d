#include "sweeps/compare/time_origins.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.hpp"
#include "storage/cells/timed_attempts.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

/// The attempts at the cells of one store.
class StoredAttempts {
 public:
  explicit StoredAttempts(const std::string& folder) {
    try {
      store_ = Store::open(folder);
      // The summaries of the same cells have checked it whole, and so the results below.
      const TableReader file(store_->packed_file(), SealCheck::BlockOnly);
      if (!readable_version(file.text_attribute("format_version"))) return;
      packed_ = timed_attempts(file, {});
    } catch (const UserError&) {
      packed_.clear();  // none is packed, or the file is damaged: the cells' own are read
    }
  }

  std::vector<TimedAttempt> of(const CellSummary& cell) const {
    const auto at = packed_.find(cell.id);
    // A cell that was trained again has more attempts than were packed.
    if (at != packed_.end() && std::cmp_equal(at->second.size(), cell.attempts)) return at->second;
    if (!store_) return {};
    try {
      const TableReader file(store_->cell_path(cell.id) / "result.h5", SealCheck::BlockOnly);
      return timed_attempts(file, cell.id)[cell.id];
    } catch (const UserError&) {
      return {};
    }
  }

 private:
  std::optional<Store> store_;
  std::map<CellId, std::vector<TimedAttempt>> packed_;
};

/// How many of these groups of cells share no job with another one, directly or by others.
std::size_t independent_groups(const TimeOrigins& origins,
                               const std::vector<std::vector<std::size_t>>& groups) {
  std::vector<std::size_t> joined(groups.size());  // of each group
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  std::map<std::string, std::size_t> first;  // group with a job
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::size_t row : groups[i]) {
      const auto jobs = origins.jobs.find(row);
      if (jobs == origins.jobs.end()) continue;
      for (const std::string& job : jobs->second) {
        const std::size_t known = joined[first.emplace(job, i).first->second], own = joined[i];
        std::ranges::replace(joined, own, known);
      }
    }
  }
  return std::set<std::size_t>(joined.begin(), joined.end()).size();
}

}  // namespace

bool is_measured_time(std::string_view metric) {
  const Variable* const variable = find_variable(metric.substr(0, metric.find('.')));
  if (variable == nullptr || variable->name.starts_with("predicted_")) return false;
  return variable->units == "s" || variable->units == "s-1";
}

TimeOrigins read_time_origins(const Listing& listing, const std::vector<std::size_t>& rows) {
  TimeOrigins out;
  std::map<std::string, StoredAttempts> stores;
  for (const std::size_t row : rows) {
    const CellSummary& cell = listing.cells[row];
    if (cell.status != CellStatus::Completed || listing.of_table(row)) continue;
    const std::string& folder = listing.store_of(row);
    const StoredAttempts& store = stores.try_emplace(folder, folder).first->second;
    const std::vector<TimedAttempt> attempts = store.of(cell);
    if (attempts.empty()) continue;
    for (const std::string& job : attempt_jobs(attempts)) {
      out.jobs[row].push_back(folder + ' ' + job);  // a store's own names
    }
    out.machines[row] = machines_text(attempts);
  }
  return out;
}

BasisMismatch machine_mismatch(const TimeOrigins& origins, std::size_t mine, std::size_t theirs) {
  BasisMismatch out;
  const auto a = origins.machines.find(mine), b = origins.machines.find(theirs);
  if (a == origins.machines.end() || b == origins.machines.end() || a->second == b->second) {
    return out;
  }
  out.differences.push_back({"the machine", Value(a->second), Value(b->second)});
  out.advice = "times of other devices, or of jobs of other sizes, are not compared";
  return out;
}

std::size_t independent_pairs(const TimeOrigins& origins, const SeedPairs& pairs) {
  if (origins.jobs.empty()) return pairs.seeds.size();
  std::vector<std::vector<std::size_t>> groups;
  for (const PairRows& pair : pairs.rows) {
    std::vector<std::size_t>& group = groups.emplace_back();
    for (const auto* const side : {&pair.mine, &pair.theirs}) {
      for (const WeightedRow& cell : *side) group.push_back(cell.row);
    }
  }
  return independent_groups(origins, groups);
}

bool share_measurements(const TimeOrigins& origins, const std::vector<std::size_t>& rows) {
  if (origins.jobs.empty()) return false;
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t row : rows) groups.push_back({row});
  return independent_groups(origins, groups) < rows.size();
}

}  // namespace depthgrid
