#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/print_plan.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "cli/worker_command.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/subprocess.hpp"
#include "storage/plan_file.hpp"
#include "sweeps/orders/orders.hpp"
#include "sweeps/report/chosen_cells.hpp"
#include "sweeps/report/run_summary.hpp"

namespace depthgrid {
namespace {

std::string progress_of(const CommandLine& line) {
  if (line.has("json-progress")) return "json";
  return line.has("quiet") ? "quiet" : "auto";
}

/// Packs the store and reports the outcome of the run on stderr. @return  true if cells failed.
bool conclude(const std::filesystem::path& folder, bool stopped, bool json) {
  const Store store = Store::open(folder);
  if (!has_plan(store)) return false;
  const RunSummary summary = conclude_run(store, folder.string(), stopped);
  for (const std::string& problem : summary.problems) log(LogLevel::Warning, problem);
  fmt::print(stderr, "{}\n", json ? summary_json(summary) : summary_text(summary));
  return summary.failed > 0;
}

}  // namespace

int run_verb(const Arguments& arguments) {
  CommandLine line(
      "run FILE [--store DIR] [--set KEY=VALUE]... [-q | --json-progress]\n"
      "                         [--only EXPRESSION | -n]",
      "Trains every cell of the sweep that has no result yet. Under mpirun or srun the\n"
      "ranks share the work. Stopped or killed, the same command resumes.");
  line.examples({"run configs/tiny.yaml",
                 "run configs/quickstart.yaml --set train.lr=1e-3,3e-3 --store results/rates"});
  line.argument("FILE")
      .sweep_options()
      .text("store", "DIR", "folder of the results (default: results/<name of the sweep>)")
      .flag("quiet,q", "no progress")
      .flag("json-progress", "progress as one JSON object per line, on stderr")
      .text("only", "EXPRESSION", "train only the cells that meet a condition, as results --filter")
      .flag("dry-run,n", "show the plan instead")
      .flag("json", "with --dry-run: print JSON");
  if (!line.parse(arguments)) return 0;
  if (line.has("json") && !line.has("dry-run")) {
    throw UserError(ExitCode::Usage, "run: --json belongs to --dry-run; see also --json-progress");
  }
  const bool dry = line.has("dry-run");
  if (dry && line.has("only")) {
    throw UserError(ExitCode::Usage, "run: --dry-run plans the whole sweep, without --only");
  }
  const Sweep sweep = dry ? load_planned_sweep(line) : load_sweep(line);
  const std::filesystem::path store = store_of(line, sweep);
  chosen_cells(sweep, line.text_of("only"));  // refused here rather than by every rank
  if (dry) return print_plan(sweep, store, 1, line.has("json"));

  const RunOrder order{line.required("FILE"), store.string(),    line.list_of("set"),
                       line.has("yes"),       progress_of(line), "",
                       line.text_of("only")};
  const std::vector<std::string> worker = worker_command("run", order_text(order));
  if (under_launcher()) become(worker);
  const int code = run_child(worker);
  try {
    const bool failed =
        conclude(store, code == number_of(ExitCode::TempFail), order.progress == "json");
    return code == 0 && failed ? number_of(ExitCode::Partial) : code;
  } catch (const UserError& e) {
    if (code == 0) throw;
    log(LogLevel::Debug, e.what());  // the worker has already reported why there is nothing to read
    return code;
  }
}

}  // namespace depthgrid
