#include "sweeps/plan/missing_measurements.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/config/schema.hpp"
#include "storage/cells/probe_record.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

/// Whether every plan of the store has the leaves `probes.*` of this one: then so has every result.
bool all_plans_probe_alike(const Store& store, const StoredPlan& plan) {
  const std::string ours = probe_leaves_digest(plan);
  return std::ranges::all_of(plan_numbers(store), [&](std::int64_t number) {
    try {
      return probe_leaves_digest(read_plan_file(store.plan_file(number), number, store.fs())) ==
             ours;
    } catch (const StorageError&) {  // a damaged plan: who needs it says so
      return false;
    }
  });
}

}  // namespace

std::vector<MissingMeasurements> missing_measurements(const Sweep& sweep, const CostTable& costs,
                                                      const std::filesystem::path& folder) {
  std::vector<MissingMeasurements> out;
  if (!Store::is_at(folder)) return out;
  const Store store = Store::open(folder);
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const CellPlan& cell = sweep.cells[row];
    const StructureCost* const cost = known_cost(costs, cell.structure);
    if (cost == nullptr || cost->probes.empty() || !store.completed(cell.id)) continue;
    const std::set<std::string> seen = recorded_probes(store.cell_path(cell.id), store.fs());
    for (const ProbeCost& probe : cost->probes) {
      if (seen.contains(probe.name)) continue;
      auto at = std::ranges::find(out, probe.name, &MissingMeasurements::probe);
      if (at == out.end()) at = out.insert(at, MissingMeasurements{probe.name, {}});
      at->cells.push_back(row);
    }
  }
  return out;
}

std::string missing_measurements_text(const MissingMeasurements& missing, const Sweep& sweep,
                                      const std::filesystem::path& folder) {
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, missing.cells.size()); ++i) {
    names += (i == 0 ? "" : "; ") + sweep.cells[missing.cells[i]].alias;
  }
  if (missing.cells.size() > kNamed) names += "; …";
  return fmt::format(
      "{} is switched on, but has not measured {} finished cell{} ({}): `depthgrid probe {} "
      "--probe {}` measures their stored checkpoints, `run --rerun CELL` trains again",
      missing.probe, missing.cells.size(), missing.cells.size() == 1 ? "" : "s", names,
      shell_word(folder.string()), missing.probe);
}

std::string other_probe_leaf_text(const Sweep& sweep, const std::filesystem::path& folder) {
  if (!Store::is_at(folder)) return {};
  const Store store = Store::open(folder);
  const StoredPlan plan = stored_plan(sweep);
  if (all_plans_probe_alike(store, plan)) return {};
  std::size_t cells = 0;
  std::string first;
  for (const StoredCell& cell : plan.cells) {
    if (!store.completed(cell.id)) continue;
    try {
      const std::string leaf =
          other_probe_leaf(store.cell_path(cell.id), probe_leaves(plan, cell), store.fs());
      if (leaf.empty()) continue;
      ++cells;
      if (first.empty()) first = cell.alias + ": " + leaf;
    } catch (const StorageError&) {  // whoever needs its numbers says so
    }
  }
  if (cells == 0) return {};
  return fmt::format(
      "probes measured {} finished cell{} by other leaves than the file's ({}{}): sweep.h5 says "
      "so in look_settings; `depthgrid probe {}` measures their stored checkpoints by the file's, "
      "`run --rerun CELL` trains again",
      cells, cells == 1 ? "" : "s", first, cells == 1 ? "" : "; …", shell_word(folder.string()));
}

std::vector<std::string> blind_probes(const Sweep& sweep, const CostTable& costs) {
  constexpr std::string_view kFirst = "probes.", kLast = ".schedule";
  const auto asked = [](const CellConfig& config, std::size_t leaf) {
    const Value& value = config.at(schema()[leaf].path);
    const auto* word = value.get_if<std::string>();
    return !value.is_null() && (word == nullptr || *word != "off") && value != default_value(leaf);
  };
  std::vector<std::string> out;
  for (std::size_t leaf = 0; leaf < schema().size(); ++leaf) {
    const std::string_view path = schema()[leaf].path;
    if (!path.starts_with(kFirst) || !path.ends_with(kLast)) continue;
    const auto name = path.substr(kFirst.size(), path.size() - kFirst.size() - kLast.size());
    bool given = false, seen = false;
    for (const CellPlan& cell : sweep.cells) {
      if (!asked(cell.config, leaf)) continue;
      given = true;
      const StructureCost* const cost = known_cost(costs, cell.structure);
      const bool known = cost != nullptr && cost->seconds_per_cell_step > 0;
      seen = seen || !known ||
             std::ranges::find(cost->probes, name, &ProbeCost::name) != cost->probes.end();
    }
    if (given && !seen) {
      out.push_back(fmt::format(
          "{} is given, but no cell has anything that this probe could measure (diagnostics.md)",
          path));
    }
  }
  return out;
}

}  // namespace depthgrid
