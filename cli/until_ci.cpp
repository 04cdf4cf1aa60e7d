#include "cli/until_ci.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {
namespace {

/// The cells of this sweep in its store; nothing if no run has begun there.
std::optional<Listing> stage_listing(const Sweep& sweep, const std::filesystem::path& folder) {
  std::error_code none;
  if (!std::filesystem::exists(folder / "STORE.json", none)) return std::nullopt;
  const Store store = Store::open(folder);
  if (!has_plan(store)) return std::nullopt;
  Listing listing = list_store(store, folder.string(), &sweep);
  keep_plan(listing);
  return listing;
}

}  // namespace

CommandLine& until_ci_options(CommandLine& line) {
  return line
      .text("until-ci", "W",
            "add seeds once, until differences to the baseline are known to ± W (0.005, or 1%)")
      .text("max-seeds", "N", "with --until-ci: at most so many seeds (default: 100)");
}

std::optional<TwoStageRequest> until_ci_of(const CommandLine& line) {
  if (!line.has("until-ci")) {
    if (line.has("max-seeds")) {
      throw UserError(ExitCode::Usage, "--max-seeds belongs to --until-ci W");
    }
    return std::nullopt;
  }
  TwoStageRequest out;
  out.half_width = line.text_of("until-ci");
  if (!line.has("max-seeds")) return out;
  const std::string text = line.text_of("max-seeds");
  const bool number =
      !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
  out.max_seeds = number ? std::stoll(text) : 0;
  if (out.max_seeds < static_cast<std::int64_t>(kFirstStage)) {
    throw UserError(
        ExitCode::Usage,
        fmt::format("--max-seeds {}: a number of {} or more was expected", text, kFirstStage));
  }
  return out;
}

bool advance_two_stage(const CommandLine& line, const Sweep& sweep,
                       const std::filesystem::path& store) {
  const auto request = until_ci_of(line);
  if (!request) return false;
  if (const auto record = read_two_stage(store)) {
    const bool same = record->asked == request->half_width &&
                      record->max_seeds == request->max_seeds && record->metric == sweep.metric;
    if (same) return false;
    throw UserError(
        ExitCode::Usage,
        fmt::format("--until-ci {} --max-seeds {}: stage one of this store has been decided for "
                    "--until-ci {} --max-seeds {} in {}, and is never decided twice: that would "
                    "choose seeds by what they show; use another --store for another width",
                    request->half_width, request->max_seeds, record->asked, record->max_seeds,
                    record->metric));
  }
  check_two_stage(sweep, *request);
  const std::optional<Listing> listing = stage_listing(sweep, store);
  const auto record = listing ? decide_two_stage(*listing, *request) : std::nullopt;
  if (!record) return false;
  publish_two_stage(store, *record);
  return true;
}

std::string two_stage_report(const Sweep& sweep, const std::filesystem::path& store) {
  const auto record = read_two_stage(store);
  const std::optional<Listing> listing = stage_listing(sweep, store);
  return record && listing ? two_stage_text(*listing, *record) : std::string();
}

std::vector<std::string> set_with_added_seeds(const CommandLine& line, const Sweep& sweep,
                                              const std::filesystem::path& store) {
  std::vector<std::string> out = line.list_of("set");
  if (read_two_stage(store)) out.push_back(seeds_setting(sweep));
  return out;
}

}  // namespace depthgrid
