#include "cli/run_report.hpp"

#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/log.hpp"
#include "core/base/printable.hpp"
#include "core/base/terminal.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/compare/brief_comparison.hpp"
#include "sweeps/report/results_query.hpp"
#include "sweeps/report/run_summary.hpp"

namespace depthgrid {

std::string progress_of(const CommandLine& line) {
  if (line.has("json-progress")) return "json";
  return line.has("quiet") ? "quiet" : "auto";
}

std::size_t attempts_in(const std::filesystem::path& store) {
  namespace fs = std::filesystem;
  std::size_t out = 0;
  std::error_code absent;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(store / "cells", skip, absent), end;
       !absent && it != end; it.increment(absent)) {
    out += it->path().filename().string().starts_with("journal-") ? 1 : 0;
  }
  return out;
}

namespace {

/// The arms of a sweep that has ended, compared; empty where there is nothing to compare.
std::string arms_compared(const Store& store, const Sweep& sweep, const std::string& name) {
  try {
    Listing listing = list_store(store, name, &sweep);
    keep_plan(listing);
    const std::vector<std::size_t> rows = select_cells(listing, {});
    const Comparison comparison = compare_cells(listing, rows, {});
    constexpr Terminal::Size kNoTerminal{.columns = 120, .rows = 40};
    const std::optional<Terminal> terminal = Terminal::find();
    return brief_comparison(listing, comparison, no_contrast(listing, rows, comparison),
                            terminal ? terminal->size() : kNoTerminal);
  } catch (const UserError& error) {  // no reason to call a run that has ended a failure
    return std::string(error.what()) + "\n";
  }
}

}  // namespace

bool report_run(const CommandLine& line, const Sweep& sweep, const std::filesystem::path& folder,
                std::size_t before, int code, const std::string& progress) {
  const bool stopped = code == number_of(ExitCode::TempFail);
  const bool ended = code == 0 || code == number_of(ExitCode::Partial) || stopped;
  if (!ended && attempts_in(folder) == before) return false;
  const Store store = Store::open(folder);
  if (!has_plan(store)) return false;
  const Sweep planned = sweep.goals.empty() ? sweep : load_planned_sweep(line);
  const RunSummary summary = conclude_run(store, planned, folder.string(), stopped,
                                          progress == "auto" ? Terminal::find() : std::nullopt);
  for (const std::string& problem : summary.problems) log(LogLevel::Warning, problem);
  const bool shown = progress == "auto" && !stopped;
  if (shown) tell(printable(arms_compared(store, planned, folder.string())));
  tell((progress == "json" ? summary_json(summary) : printable(summary_text(summary))) + '\n');
  return summary.failed > 0 || summary.damaged > 0;
}

}  // namespace depthgrid
