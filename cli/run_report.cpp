#include "cli/run_report.hpp"

#include <utility>

#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/log.hpp"
#include "core/base/printable.hpp"
#include "core/base/terminal.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/compare/brief_comparison.hpp"
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

bool report_run(const CommandLine& line, const Sweep& sweep, const std::filesystem::path& folder,
                std::size_t before, int code, const std::string& progress) {
  if (!Store::is_at(folder)) return false;  // stopped before there was one
  const bool stopped = code == number_of(ExitCode::TempFail);
  const bool ended = code == 0 || code == number_of(ExitCode::Partial) || stopped;
  if (!ended && attempts_in(folder) == before) return false;
  const Store store = Store::open(folder);
  if (!has_plan(store)) return false;
  const Sweep planned = sweep.goals.empty() ? sweep : load_planned_sweep(line);
  RunSummary summary = conclude_run(store, planned, folder.string(), stopped,
                                    progress == "auto" ? Terminal::find() : std::nullopt);
  for (const std::string& problem : summary.problems) log(LogLevel::Warning, problem);
  const bool shown = progress == "auto" && !stopped;
  if (shown) tell(printable(closing_comparison(std::move(summary.listing))));
  tell((progress == "json" ? summary_json(summary) : printable(summary_text(summary))) + '\n');
  return summary.failed > 0 || summary.damaged > 0;
}

}  // namespace depthgrid
