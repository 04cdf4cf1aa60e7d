#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/train/run_options.hpp"
#include "cli/verbs.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/text_parts.hpp"
#include "storage/store.hpp"
#include "sweeps/report/chosen_cells.hpp"
#include "sweeps/run/run_end.hpp"
#include "sweeps/run/supervised_run.hpp"
#include "sweeps/run/task_end.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

/// A number of the environment that Slurm or a submission has set; nothing if it is not set.
std::optional<std::int64_t> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::atoll(text);
}

/// The signal that a batch script got before it started this program, which it names in the
/// environment; not for those that this one starts. 0 = none.
int asked_before() {
  constexpr std::pair<std::string_view, int> kSignals[] = {
      {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}};
  const char* const text = std::getenv("DEPTHGRID_ASKED");
  const std::string name = text == nullptr ? "" : text;
  unsetenv("DEPTHGRID_ASKED");
  for (const auto& [word, number] : kSignals) {
    if (name == word) return number;
  }
  return 0;
}

/// The line of the task in the file: ids of cells.
std::vector<std::string> cells_of_task(const CommandLine& line) {
  const std::string file = line.text_of("tasks");
  std::int64_t task = 0;
  if (line.has("task")) {
    task = line.number_of("task", 0);
  } else if (const auto index = number_from("SLURM_ARRAY_TASK_ID")) {
    task = *index + number_from("DEPTHGRID_TASK_OFFSET").value_or(0);
  } else {
    throw UserError(ExitCode::Usage,
                    "supervise --tasks: which line of " + file +
                        "? Name it with --task, or start this as a task of a Slurm array");
  }
  std::ifstream in(file);
  if (!in) throw UserError(ExitCode::NoInput, file + ": cannot be read");
  std::string text;
  for (std::int64_t n = 0; n <= task; ++n) {
    if (std::getline(in, text)) continue;
    throw UserError(ExitCode::NoInput,
                    fmt::format("{}: has no line {} (counted from 0)", file, task));
  }
  std::vector<std::string> cells = text_words(text);
  if (cells.empty()) {
    throw UserError(ExitCode::NoInput, fmt::format("{}: line {} names no cell", file, task));
  }
  return cells;
}

}  // namespace

int supervise_verb(const Arguments& arguments) {
  CommandLine line(
      "supervise FILE [--store DIR] [--set KEY=VALUE]... [-j N] [--fail-fast]\n"
      "                [--only EXPRESSION] [--tasks FILE [--task N] [--requeue]] [-q | "
      "--json-progress]",
      "Trains what has no result yet, each job in a process of its own that is watched and\n"
      "started again if it fails; as `run -j`, but also inside a launcher's step. A batch\n"
      "script ends in it.");
  line.examples({"supervise configs/quickstart.yaml -j 2",
                 "supervise results/q/sweep.yaml --store results/q --tasks tasks.txt --task 3"});
  run_options(line)
      .text("tasks", "FILE", "train only the cells whose ids stand in one line of this file")
      .flag("requeue",
            "as a task of Slurm: go back into its queue when stopped or when the node is at fault")
      .number("task", {}, "which line, from 0 (default: $SLURM_ARRAY_TASK_ID)");
  supervision_options(line).needs("task", "tasks").needs("requeue", "tasks");
  if (!line.parse(arguments)) return 0;
  std::optional<StopWatch> signals(std::in_place, asked_before());  // also while it is handed back
  const Sweep sweep = load_sweep(line);
  chosen_cells(sweep, line.text_of("only"));
  SupervisedRun run = supervised_run(line, run_request(line, sweep));
  const std::filesystem::path& store = run.request.store;
  const bool task = line.has("tasks");
  if (task) run.cells = cells_of_task(line);
  std::signal(SIGPIPE, SIG_IGN);
  const Stopwatch clock;
  EventLog events(store, this_task());
  const auto give_back = [&](int code, int signal, double ran) {
    return_task({.sweep = sweep,
                 .store = Store::open(store),
                 .events = events,
                 .signals = *signals,
                 .task_file = line.text_of("tasks"),
                 .cells = run.cells,
                 .code = code,
                 .signal = signal,
                 .ran = ran});
    return code;
  };
  if (line.has("requeue")) {
    const Store there = Store::open(store);
    const std::string over =
        leave_out_nodes(sweep, there, events, line.text_of("tasks"), {}, SlurmClient());
    if (!over.empty()) throw UserError(ExitCode::Infrastructure, over);
    if (found_node_fault(there, run.cells, events)) {
      return give_back(number_of(ExitCode::Failed), 0, 0);
    }
  }
  const std::size_t before = task ? 0 : attempts_in(store);  // of the report, which tasks lack
  const auto [code, signal, spent] = run_supervised(run, *signals, events);
  if (line.has("requeue") && !spent) give_back(code, signal, clock.seconds());
  signals.reset();
  if (task) return code;  // of many: whoever reads the results packs them
  return report_run(run.request, before, code);
}

}  // namespace depthgrid
