#include "storage/plan_sequence.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/parse_number.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/plan_union.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// 3 for "plan-3.h5"; 0 if this is no name of a plan.
std::int64_t plan_number(std::string_view name) {
  constexpr std::string_view kBegin = "plan-", kEnd = ".h5";
  if (name == "plan.h5") return 1;
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return 0;
  name = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  const auto number = parse_number<std::int64_t>(name).value_or(0);
  return number > 1 ? number : 0;
}

}  // namespace

std::vector<std::int64_t> plan_numbers(const Store& store) {
  std::vector<std::int64_t> out;
  const auto [entries, error] = store.fs().list(store.root());
  if (error != 0 && !means_absent(error)) {
    throw_errno(store.root(), "cannot list the folder", error, 0, store.fs());
  }
  for (const FolderEntry& entry : entries) {
    const std::int64_t number = plan_number(entry.name);
    if (number > 0) out.push_back(number);
  }
  std::ranges::sort(out, std::greater());
  return out;
}

namespace {

/// Another name for the file of an earlier plan that is the same.
/// @return false if no earlier plan is, or the number is taken.
bool link_same_plan(const Store& store, const StoredPlan& plan, std::int64_t number) {
  std::set<Sha256> seen;
  for (const std::int64_t earlier : plan_numbers(store)) {
    const auto seal = peek_seal(store.plan_file(earlier), store.fs());
    if (!seal || !seen.insert(seal->digest).second) continue;
    try {
      if (!same_plan(read_plan_file(store.plan_file(earlier), earlier, store.fs()), plan)) continue;
    } catch (const StorageError&) {
      continue;  // a damaged plan is the same as none
    }
    if (store.fs().link(store.plan_file(earlier), store.plan_file(number)) != 0) return false;
    sync_folder(store.root(), store.fs());
    return true;
  }
  return false;
}

/// Brings the sweep files up to date with the plans, whoever published these.
void publish_texts(const Store& store) {
  const auto text_of = [&store](std::int64_t number) {
    return TableReader(store.plan_file(number), store.fs()).required_text("sweep_yaml");
  };
  const auto is_there = [&store](const fs::path& file) {  // not a link that leads nowhere
    return store.fs().facts(file, Links::Follow).error == 0;
  };
  for (;;) {
    const std::vector<std::int64_t> numbers = plan_numbers(store);
    const std::int64_t newest = numbers.front();
    for (const std::int64_t earlier : numbers) {
      if (earlier == newest || is_there(store.sweep_yaml(earlier))) continue;
      try {
        publish_once(store.sweep_yaml(earlier), std::string_view(text_of(earlier)), store.fs());
      } catch (const StorageError& damaged) {
        log(LogLevel::Warning, damaged.what());
      }
    }
    const std::string text = text_of(newest);
    if (!is_there(store.sweep_yaml()) || read_text_file(store.sweep_yaml(), store.fs()) != text) {
      publish_replace(store.sweep_yaml(), std::string_view(text), store.fs());
    }
    if (newest_plan(store) == newest) return;  // else ours may have replaced a newer text
  }
}

bool was_tried(const Store& store, const StoredCell& cell) {
  return store.fs().facts(store.cell_path(cell.id), Links::Follow).error == 0;
}

constexpr const char* kRunMends = "the next depthgrid run writes it anew";

/// An earlier plan; nothing, and a line of damage, if it is damaged.
std::optional<StoredPlan> read_earlier(const Store& store, std::int64_t number,
                                       std::vector<std::string>& damages) {
  try {
    return read_plan_file(store.plan_file(number), number, store.fs());
  } catch (const StorageError& damaged) {
    damages.push_back(fmt::format("{}; {}, cells that only this plan has are left out till then",
                                  damaged.what(), kRunMends));
    return std::nullopt;
  }
}

/// The newest plan. @throws UserError: BadData that says what to do if it is damaged, NoInput if it
/// cannot be read.
StoredPlan read_newest(const Store& store, std::int64_t number) {
  try {
    return read_plan_file(store.plan_file(number), number, store.fs());
  } catch (const StorageError& damaged) {
    if (damaged.code() == ExitCode::CantCreate) throw UserError(ExitCode::NoInput, damaged.what());
    if (damaged.code() != ExitCode::BadData) throw;
    throw UserError(damaged.code(), fmt::format("{}; {}", damaged.what(), kRunMends));
  }
}

/// Plans between the first and the newest that are not there.
std::vector<std::string> missing_plans(const Store& store,
                                       const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> out;
  for (std::int64_t number = 1; number < numbers.front(); ++number) {
    if (std::ranges::find(numbers, number) != numbers.end()) continue;
    out.push_back(
        fmt::format("{}: is gone; {}, cells that only this plan has are left out till then",
                    store.plan_file(number).string(), kRunMends));
  }
  return out;
}

/// Of a plan that is damaged, none: it is reported by who reads the store.
std::vector<CellId> cells_of_plan(const Store& store, std::int64_t number) {
  std::vector<CellId> out;
  try {
    const VariableColumn cells = TableReader(store.plan_file(number), store.fs()).read("cell");
    for (std::size_t i = 0; i < cells.items(); ++i) out.emplace_back(cells.text(i));
  } catch (const StorageError& damaged) {
    log(LogLevel::Debug, damaged.what());
  }
  return out;
}

}  // namespace

std::int64_t newest_plan(const Store& store) {
  const std::vector<std::int64_t> numbers = plan_numbers(store);
  return numbers.empty() ? 0 : numbers.front();
}

bool has_plan(const Store& store) {
  return newest_plan(store) > 0;
}

std::int64_t plan_with(const Store& store, const CellId& cell) {
  for (const std::int64_t number : plan_numbers(store)) {
    const std::vector<CellId> cells = cells_of_plan(store, number);
    if (std::ranges::find(cells, cell) != cells.end()) return number;
  }
  return 0;
}

bool all_planned(const Store& store, const std::vector<CellId>& cells) {
  std::set<CellId> open(cells.begin(), cells.end());
  for (const std::int64_t number : plan_numbers(store)) {
    if (open.empty()) break;
    for (const CellId& cell : cells_of_plan(store, number)) open.erase(cell);
  }
  return open.empty();
}

StoredPlan publish_plan(const Store& store, const Sweep& sweep) {
  StoredPlan plan = stored_plan(sweep);
  plan.created = iso_utc(unix_time());
  // A folder's listing may lag behind on a network filesystem: numbers found taken are skipped.
  std::int64_t taken = 0;
  for (;;) {
    const std::int64_t newest = newest_plan(store);
    if (newest > 0) {
      const StoredPlan there = read_plan_file(store.plan_file(newest), newest, store.fs());
      if (same_plan(there, plan)) {
        plan.generation = newest;
        plan.created = there.created;
        break;
      }
    }
    const std::int64_t next = std::max(newest, taken) + 1;
    plan.generation = next;
    if (link_same_plan(store, plan, next)) break;
    if (publish_plan_file(store.plan_file(next), plan, store.fs())) break;
    taken = newest_plan(store) < next ? next : 0;
  }
  for (StoredCell& cell : plan.cells) cell.generation = plan.generation;
  publish_texts(store);
  return plan;
}

bool publish_first_plan(const Store& store, const Sweep& sweep) {
  if (has_plan(store)) return false;
  StoredPlan plan = stored_plan(sweep);
  plan.created = iso_utc(unix_time());
  const bool first = publish_plan_file(store.plan_file(1), plan, store.fs());
  publish_texts(store);
  return first;
}

StoredPlan read_plan(const Store& store) {
  const std::vector<std::int64_t> numbers = plan_numbers(store);
  if (numbers.empty()) {
    throw StorageError(store.plan_file(),
                       "there is no plan in this store: run a sweep into it "
                       "first",
                       ExitCode::NoInput);
  }
  std::vector<StoredPlan> plans;
  std::vector<std::string> damages = missing_plans(store, numbers);
  std::set<Sha256> seen;
  std::set<CellId> newer;
  for (const std::int64_t number : numbers) {
    const auto seal = peek_seal(store.plan_file(number), store.fs());
    if (seal && !seen.insert(seal->digest).second) continue;  // it became the newest again
    if (plans.empty()) {
      plans.push_back(read_newest(store, number));
    } else if (auto earlier = read_earlier(store, number, damages)) {
      std::erase_if(earlier->cells,
                    [&newer](const StoredCell& cell) { return newer.contains(cell.id); });
      const bool tried = std::ranges::any_of(
          earlier->cells, [&store](const StoredCell& cell) { return was_tried(store, cell); });
      if (!tried) continue;
      plans.push_back(std::move(*earlier));
    }
    for (const StoredCell& cell : plans.back().cells) newer.insert(cell.id);
  }
  for (const std::string& damage : damages) log(LogLevel::Warning, damage);
  StoredPlan out = united(std::move(plans));
  out.damages = std::move(damages);
  return out;
}

StoredPlan read_plan(const Store& store, const Sweep& sweep) {
  StoredPlan plan = stored_plan(sweep);
  StoredPlan there = read_plan(store);
  const std::int64_t newest = newest_plan(store);
  if (same_plan(read_plan_file(store.plan_file(newest), newest, store.fs()), plan)) return there;
  std::set<CellId> ours;
  for (StoredCell& cell : plan.cells) {
    cell.generation = 0;
    ours.insert(cell.id);
  }
  plan.generation = 0;
  std::erase_if(there.cells, [&ours](const StoredCell& cell) { return ours.contains(cell.id); });
  plan.damages = there.damages;
  if (there.cells.empty()) return plan;
  std::vector<StoredPlan> plans;
  plans.push_back(std::move(plan));
  plans.push_back(std::move(there));
  return united(std::move(plans));
}

}  // namespace depthgrid
