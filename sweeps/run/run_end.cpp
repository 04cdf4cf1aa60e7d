#include "sweeps/run/run_end.hpp"

#include <utility>

#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "core/base/terminal.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/compare/brief_comparison.hpp"
#include "sweeps/report/run_summary.hpp"

namespace depthgrid {

std::size_t attempts_in(const std::filesystem::path& store, const Fs& disk) {
  std::size_t out = 0;
  const std::filesystem::path cells = store / "cells";
  for (const FolderEntry& part : disk.list(cells).value) {  // cells/<first digits>/<id>/journal-…
    for (const FolderEntry& cell : disk.list(cells / part.name).value) {
      for (const FolderEntry& file : disk.list(cells / part.name / cell.name).value) {
        out += file.name.starts_with("journal-") ? 1 : 0;
      }
    }
  }
  return out;
}

std::int64_t report_outcome(const Store& store, const Sweep& sweep, const std::string& folder,
                            bool stopped, const std::string& progress) {
  RunSummary summary = conclude_run(store, sweep, folder, stopped,
                                    progress == "auto" ? Terminal::find() : std::nullopt);
  for (const std::string& problem : summary.problems) log(LogLevel::Warning, problem);
  if (progress == "auto" && !stopped) {
    print_to_stderr(printable(closing_comparison(std::move(summary.listing))));
  }
  print_to_stderr((progress == "json" ? summary_json(summary) : printable(summary_text(summary))) +
                  '\n');
  return summary.failed + summary.damaged;
}

int report_run(const RunRequest& request, std::size_t before, int code) {
  if (!Store::is_at(request.store)) return code;  // stopped before there was one
  const bool stopped = code == number_of(ExitCode::TempFail);
  const bool ended = code == 0 || code == number_of(ExitCode::Partial) || stopped;
  if (!ended && attempts_in(request.store) == before) return code;
  const Store store = Store::open(request.store);
  if (!has_plan(store)) return code;
  const std::int64_t failed = report_outcome(store, request.planned_sweep(), request.store.string(),
                                             stopped, request.command.progress);
  return code == 0 && failed > 0 ? number_of(ExitCode::Partial) : code;
}

}  // namespace depthgrid
