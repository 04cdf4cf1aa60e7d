#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/run_report.hpp"
#include "cli/store_argument.hpp"
#include "cli/supervised_run.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/publish.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "storage/store.hpp"
#include "sweeps/report/chosen_cells.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kIdleRequeues = 2;

/// A number of the environment that Slurm or a submission has set; nothing if it is not set.
std::optional<std::int64_t> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::atoll(text);
}

/// The line of the task in the file: ids of cells.
std::vector<std::string> cells_of_task(const CommandLine& line) {
  const std::string file = line.text_of("tasks");
  std::int64_t task = 0;
  if (line.has("task")) {
    const std::string text = line.text_of("task");
    if (text.find_first_not_of("0123456789") != text.npos) {
      throw UserError(ExitCode::Usage,
                      "supervise --task " + text + ": a number from 0 is expected");
    }
    task = std::stoll(text);
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
  std::vector<std::string> cells;
  std::istringstream words(text);
  for (std::string id; words >> id;) cells.push_back(id);
  if (cells.empty()) {
    throw UserError(ExitCode::NoInput, fmt::format("{}: line {} names no cell", file, task));
  }
  return cells;
}

/// Puts this task back into Slurm's queue, unless somebody has ended it there, or the last two
/// times brought its cells no further. @param signal  that has stopped it; 0 = unknown.
void go_back(const CommandLine& line, const std::filesystem::path& folder,
             const std::vector<std::string>& cells, int signal) {
  const std::string task = this_task();
  if (task.empty()) return log(LogLevel::Warning, "--requeue: this is no task of Slurm");
  const SlurmClient slurm;
  const bool time_is_up = signal == SIGUSR1 || signal == SIGUSR2;
  if (!time_is_up && slurm.ending(task)) {
    return log(LogLevel::Info, "Slurm has ended task " + task + ": it does not ask to go back");
  }
  const Store store = Store::open(folder);
  std::int64_t state = 0;
  for (const std::string& id : cells) {
    state += store.completed(id) ? std::int64_t{1} << 32 : 0;
    for (const CheckpointFile& file : list_checkpoints(store.cell_path(id))) state += file.step;
  }
  const std::filesystem::path memory =
      std::filesystem::path(line.text_of("tasks")).parent_path() / ("requeued-" + task);
  std::int64_t before = -1, idle = 0;
  std::ifstream(memory) >> before >> idle;
  idle = state > before ? 0 : idle + 1;
  publish_replace(memory, fmt::format("{} {}\n", state, idle));
  if (idle >= kIdleRequeues) {
    return log(
        LogLevel::Error,
        fmt::format("task {} was stopped {} times without getting on, so it does not go back "
                    "into the queue; a longer resources.time may help",
                    task, idle + 1));
  }
  const std::string problem = slurm.requeue(task);
  if (!problem.empty()) {
    return log(LogLevel::Error, "scontrol requeue " + task + ": " + problem +
                                    "; submit again what is missing: depthgrid submit");
  }
  std::this_thread::sleep_for(std::chrono::seconds(30));  // Slurm ends this process meanwhile
}

}  // namespace

int supervise_verb(const Arguments& arguments) {
  CommandLine line(
      "supervise FILE [--store DIR] [--set KEY=VALUE]... [-j N] [--fail-fast]\n"
      "                [--tasks FILE [--task N]] [-q | --json-progress]",
      "Trains what has no result yet, each job in a process of its own that is watched and\n"
      "started again if it fails; as `run -j`, but also inside a launcher's step. A batch\n"
      "script ends in it.");
  line.examples({"supervise configs/quickstart.yaml -j 2",
                 "supervise results/q/sweep.yaml --store results/q --tasks tasks.txt --task 3"});
  line.argument("FILE")
      .sweep_options()
      .text("store", "DIR", "folder of the results (default: results/<name of the sweep>)")
      .flag("allow-inexact", "as --set resources.allow_inexact=true: resume other ranks' sums")
      .flag("quiet,q", "no progress")
      .flag("json-progress", "progress as one JSON object per line, on stderr")
      .text("only", "EXPRESSION", "train only the cells that meet a condition, as results --filter")
      .text("tasks", "FILE", "train only the cells whose ids stand in one line of this file")
      .flag("requeue", "as a task of Slurm: go back into its queue when stopped with cells left")
      .text("task", "N", "which line, from 0 (default: $SLURM_ARRAY_TASK_ID)");
  supervision_options(line);
  if (!line.parse(arguments)) return 0;
  const Sweep sweep = load_sweep(line);
  const std::filesystem::path store = store_of(line, sweep);
  chosen_cells(sweep, line.text_of("only"));
  std::vector<std::string> set = line.list_of("set");
  if (line.has("allow-inexact")) set.emplace_back("resources.allow_inexact=true");
  SupervisedRun request =
      supervised_run(line, {line.required("FILE"), store.string(), std::move(set), line.has("yes"),
                            progress_of(line), "", line.text_of("only")});
  const bool task = line.has("tasks");
  if (line.has("task") && !task) {
    throw UserError(ExitCode::Usage, "supervise: --task belongs to --tasks FILE");
  }
  if (task) request.cells = cells_of_task(line);
  std::signal(SIGPIPE, SIG_IGN);
  const std::size_t before = attempts_in(store);
  const auto [code, signal] = run_supervised(line, request);
  if (line.has("requeue") && code == number_of(ExitCode::TempFail)) {
    go_back(line, store, request.cells, signal);
  }
  if (task) return code;  // of many: whoever looks at the results packs them
  const bool failed = report_run(line, sweep, store, before, code, request.order.progress);
  return code == 0 && failed ? number_of(ExitCode::Partial) : code;
}

}  // namespace depthgrid
