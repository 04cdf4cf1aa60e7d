#include "cli/arguments/until_ci.hpp"

#include <fmt/format.h>

#include "cli/arguments/store_argument.hpp"
#include "core/base/log.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {
namespace {

/// With the widths of `match:`: without them its cells are none of the store's.
Sweep with_widths(const CommandLine& line, const Sweep& sweep) {
  return sweep.goals.empty() ? sweep : load_planned_sweep(line);
}

/// The cells of this sweep in its store; nothing if no run has begun there.
std::optional<Listing> stage_listing(const CommandLine& line, const Sweep& sweep,
                                     const std::filesystem::path& folder) {
  if (!Store::is_at(folder)) return std::nullopt;
  const Store store = Store::open(folder);
  if (!has_plan(store)) return std::nullopt;
  const Sweep planned = with_widths(line, sweep);
  Listing listing = list_store(store, folder.string(), &planned);
  keep_plan(listing);
  return listing;
}

}  // namespace

CommandLine& until_ci_options(CommandLine& line) {
  return line
      .text("until-ci", "W",
            "add seeds once, until differences to the baseline are known to ± W (0.005, or 1%)")
      .number("max-seeds", TwoStageRequest().max_seeds, "with --until-ci: at most so many seeds")
      .needs("max-seeds", "until-ci");
}

std::optional<TwoStageRequest> until_ci_of(const CommandLine& line) {
  if (!line.has("until-ci")) return std::nullopt;
  return TwoStageRequest{line.text_of("until-ci"),
                         line.number_of("max-seeds", std::int64_t{kSteinFirstSeeds})};
}

bool advance_two_stage(const CommandLine& line, const Sweep& sweep,
                       const std::filesystem::path& store) {
  const auto request = until_ci_of(line);
  if (!request) return false;
  if (const auto record = read_two_stage(store)) {
    check_same_two_stage(*record, with_widths(line, sweep), *request);
    return false;
  }
  check_two_stage(sweep, *request);
  const std::optional<Listing> listing = stage_listing(line, sweep, store);
  const auto decided = listing ? decide_two_stage(*listing, *request) : std::nullopt;
  if (!decided) return false;
  publish_two_stage(store, *decided, Store::fs_at(store));
  // Of two commands that decide at the same time, the first one's record stays.
  check_same_two_stage(read_two_stage(store).value(), with_widths(line, sweep), *request);
  return true;
}

std::string two_stage_report(const CommandLine& line, const std::filesystem::path& store) {
  if (!read_two_stage(store)) return {};
  const std::optional<Listing> listing = stage_listing(line, load_sweep(line), store);
  if (!listing) return {};
  return two_stage_text(*listing, two_stage_answers(*listing, two_stage_question(*listing)));
}

void report_added_seeds(const CommandLine& line, const Sweep& sweep,
                        const std::filesystem::path& store) {
  const auto record = read_two_stage(store);
  if (!record) return;
  const Sweep own = load_sweep_of_file(line);
  if (!added_seeds(*record, own)) return;
  log(LogLevel::Info,
      fmt::format("{}: --until-ci {} has decided on {} seeds, which every sweep of this store has: "
                  "{} in place of the {} of {}; another --store is without them",
                  (store / kTwoStageFile).string(), record->asked, record->seeds.size(),
                  sweep.seeds, own.seeds, own.file));
}

void report_unshown(const std::vector<TwoStageAnswer>& answers) {
  for (const TwoStageAnswer& answer : answers) {
    if (!answer.damage.empty()) log(LogLevel::Warning, answer.damage);
    if (!answer.not_shown.empty()) log(LogLevel::Info, answer.not_shown);
  }
}

std::vector<std::string> set_with_added_seeds(const CommandLine& line, const Sweep& sweep,
                                              const std::filesystem::path& store) {
  std::vector<std::string> out = line.list_of("set");
  if (read_two_stage(store)) out.push_back(seeds_setting(sweep));
  return out;
}

}  // namespace depthgrid
