#include "sweeps/plan/budget.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/config/text_form.hpp"
#include "storage/store.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/report/slot_record.hpp"
#include "sweeps/report/sweep_numbers.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr double kHour = 3600, kMiB = 1024.0 * 1024.0;

std::string hours_text(double rank_seconds) {
  return fmt::format("{:.3g} h", rank_seconds / kHour);
}

/// One leaf, its limit in the unit of BudgetUse, and how such a number is shown.
struct BudgetRow {
  std::string_view leaf;
  double (*limit)(const CellConfig& run, std::string_view leaf);
  double BudgetUse::* part;
  std::string (*text)(double number);
};

constexpr BudgetRow kBudgets[] = {
    {"budget.wall_time",
     [](const CellConfig& run, std::string_view leaf) {
       return static_cast<double>(seconds_of(run.word(leaf)).value());
     },
     &BudgetUse::wall, short_seconds},
    {"budget.gpu_hours",
     [](const CellConfig& run, std::string_view leaf) { return run.real(leaf) * kHour; },
     &BudgetUse::rank_seconds, hours_text},
    {"budget.store_bytes",
     [](const CellConfig& run, std::string_view leaf) {
       return static_cast<double>(megabytes_of(run.word(leaf)).value()) * kMiB;
     },
     &BudgetUse::store_bytes, short_bytes},
};

}  // namespace

bool has_budget(const CellConfig& run) {
  return std::ranges::any_of(kBudgets, [&](const BudgetRow& row) { return !run.null(row.leaf); });
}

std::optional<std::string> used_up(const CellConfig& run, const BudgetUse& use) {
  for (const BudgetRow& row : kBudgets) {
    if (run.null(row.leaf)) continue;
    const double limit = row.limit(run, row.leaf);
    if (use.*row.part < limit) continue;
    return fmt::format(
        "{} is used up: {} of {}. Nothing more is computed; what runs stops with checkpoints. With "
        "a larger {} the same command goes on",
        row.leaf, row.text(use.*row.part), row.text(limit), row.leaf);
  }
  return std::nullopt;
}

std::optional<std::string> store_problem(const CellConfig& run, double there, double more) {
  const BudgetRow& row = kBudgets[2];
  if (run.null(row.leaf) || std::isnan(more)) return std::nullopt;
  const double limit = row.limit(run, row.leaf);
  if (there + more <= limit) return std::nullopt;
  return fmt::format(
      "{}: the sweep needs about {} ({} are in the store, {} are predicted for what is missing), "
      "but {} are allowed: raise it, keep fewer checkpoints (checkpoint.keep_*), measure less "
      "often "
      "(probes.*.schedule), or take fewer cells",
      row.leaf, short_bytes(there + more), short_bytes(there), short_bytes(more),
      short_bytes(limit));
}

std::vector<std::string> budget_lines(const CellConfig& run, const BudgetUse& use,
                                      const BudgetUse& more) {
  std::vector<std::string> out;
  for (const BudgetRow& row : kBudgets) {
    if (run.null(row.leaf)) continue;
    const double needed = more.*row.part, limit = row.limit(run, row.leaf);
    const bool fits = !(use.*row.part + needed > limit);
    out.push_back(fmt::format("{} {}: {} used, {} predicted{}", row.leaf, row.text(limit),
                              row.text(use.*row.part),
                              std::isnan(needed) ? "an unknown amount" : row.text(needed),
                              fits ? "" : ": more than it allows"));
  }
  return out;
}

double predicted_bytes_of(const std::vector<CellPlan>& cells, const std::vector<bool>& wanted,
                          const CostTable& costs) {
  double out = 0;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (!wanted[row]) continue;
    const StructureCost* const cost = known_cost(costs, cells[row].structure);
    if (cost == nullptr) return std::nan("");
    out += predicted_stored_bytes(cells[row].config, cost->parameters, cost->probes);
  }
  return out;
}

double folder_bytes(const fs::path& folder, const Fs& disk) {
  double out = 0;
  for (const auto& [name, kind] : disk.list(folder).value) {
    if (kind == FileKind::Folder) out += folder_bytes(folder / name, disk);
    if (kind != FileKind::File) continue;
    out += static_cast<double>(disk.facts(folder / name, Links::Stay).value.size);
  }
  return out;
}

BudgetUse used_so_far(const Sweep& sweep, const fs::path& store) {
  return {
      .wall = slot_sums(store).wall,
      .rank_seconds = sweep_numbers(list_store(Store::open(store), store.string(), &sweep)).used,
      .store_bytes = folder_bytes(store)};
}

}  // namespace depthgrid
