#include "storage/plan_repair.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/plan_file.hpp"
#include "storage/plan_sequence.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// What is wrong with a plan file; empty if nothing is. A damaged one is quarantined.
std::string clear_damage(const fs::path& file, const Fs& disk) {
  if (!something_at(file, disk)) return file.string() + ": is gone";
  try {
    verify_sealed_file(file, disk);
    return {};
  } catch (const StorageError& error) {
    if (error.code() != ExitCode::BadData) throw;
    return fmt::format("{}; the damaged plan is {}", error.what(),
                       quarantine(file, disk).filename().string());
  }
}

/// @throws UserError if the text does not give a sweep.
void write_anew(const fs::path& file, const fs::path& text, const Fs& disk) {
  const Sweep sweep = load_sweep({.file = text, .set = {}, .yes = true});
  if (!sweep.goals.empty()) {
    throw UserError(ExitCode::BadData, text.string() +
                                           ": the widths found for `match:` were only "
                                           "in the plan");
  }
  StoredPlan plan = stored_plan(sweep);
  plan.created = iso_utc(unix_time());
  publish_plan_file(file, plan, disk);
}

}  // namespace

std::vector<std::string> repair_plans(const Store& store) {
  std::vector<std::string> out;
  const std::vector<std::int64_t> numbers = plan_numbers(store);
  const std::int64_t newest = numbers.empty() ? 0 : numbers.front();
  for (std::int64_t number = 1; number <= newest; ++number) {
    const fs::path file = store.plan_file(number);
    const fs::path text = number == newest ? store.sweep_yaml() : store.sweep_yaml(number);
    const std::string damage = clear_damage(file, store.fs());
    if (damage.empty()) continue;
    try {
      write_anew(file, text, store.fs());
      out.push_back(fmt::format("{}; it is written anew from {}", damage, text.string()));
    } catch (const UserError& problem) {
      out.push_back(
          fmt::format("{}; it cannot be written anew from its sweep file, so the cells that only "
                      "this plan has are not known: {}",
                      damage, problem.what()));
    }
  }
  return out;
}

}  // namespace depthgrid
