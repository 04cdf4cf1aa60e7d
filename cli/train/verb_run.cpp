#include <csignal>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/design/verb_plan.hpp"
#include "cli/train/run_options.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/printable.hpp"
#include "core/base/subprocess.hpp"
#include "storage/leftovers.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/protocol/worker_command.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/report/chosen_cells.hpp"
#include "sweeps/run/budget_check.hpp"
#include "sweeps/run/plain_run.hpp"
#include "sweeps/run/run_end.hpp"
#include "sweeps/run/supervised_run.hpp"

namespace depthgrid {
namespace {

/// Ids of the cells of --rerun. @throws UserError (Usage) as find_cell()
std::vector<std::string> cells_again(const CommandLine& line, const Sweep& sweep) {
  std::vector<std::string> out;
  if (!line.has("rerun")) return out;
  const Listing listing = list_sweep(sweep, "");
  for (const std::string& text : line.list_of("rerun")) {
    out.push_back(sweep.cells[find_cell(listing, text)].id);
  }
  return out;
}

/// Says once per run if many segments of killed MPI processes fill the machine's shared memory.
void warn_of_leftovers() {
  constexpr std::size_t kMany = 16;
  if (launcher_rank() != 0) return;
  const Leftovers found = shared_memory_leftovers();
  if (found.files.size() < kMany) return;
  log(LogLevel::Warning,
      fmt::format("killed MPI processes have left {} files ({:.0f} MB) in /dev/shm, which is "
                  "memory; remove them with: depthgrid gc",
                  found.files.size(), static_cast<double>(found.bytes) / 1e6));
}

/// One launch per job (sweeps/run/supervised_run), then the report.
int supervise_and_conclude(const SupervisedRun& run) {
  std::optional<StopWatch> signals(std::in_place);
  const std::size_t before = attempts_in(run.request.store);
  EventLog events(run.request.store);
  const int code = run_supervised(run, *signals, events).code;
  signals.reset();  // who has seen enough may interrupt the summary
  return report_run(run.request, before, code);
}

/// One worker, then the report.
int run_and_conclude(const RunRequest& request) {
  std::optional<StopWatch> signals(std::in_place);
  const std::size_t before = attempts_in(request.store);
  EventLog events(request.store);
  const int code = run_plain(request, before, *signals, events);
  signals.reset();  // who has seen enough may interrupt the summary
  try {
    return report_run(request, before, code);
  } catch (const UserError& e) {
    if (code == 0) throw;
    log(LogLevel::Debug, e.what());  // the worker has already reported why there is nothing to read
    return code;
  }
}

/// After the first stage the same command goes on with the second one, in a program of its own;
/// after that it says what is known. @param code  of the stage that has ended.
int next_stage(const CommandLine& line, const Arguments& arguments, const Sweep& sweep,
               const std::filesystem::path& store, int code) {
  if (code != 0 && code != number_of(ExitCode::Partial)) return code;  // stopped: it resumes
  const bool decided = advance_two_stage(line, sweep, store);
  const std::string said = printable(two_stage_report(line, store));
  if (line.has("quiet") || line.has("json-progress")) {
    log(LogLevel::Info, said.substr(0, said.find('\n')));
  } else {
    print_to_stderr(said);
  }
  const auto record = decided ? read_two_stage(store) : std::nullopt;
  if (!record || record->added() == 0) return code;
  // This program again, as it was called: it finds the record.
  std::vector<std::string> again = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                    "run"};
  again.insert(again.end(), arguments.begin(), arguments.end());
  become(again);
}

}  // namespace

int run_verb(const Arguments& arguments) {
  CommandLine line(
      "run FILE [--store DIR] [--set KEY=VALUE]... [-q | --json-progress]\n"
      "                         [-j N] [--supervise] [--only EXPRESSION] [--rerun CELL]... | -n",
      "Trains every cell of the sweep that has no result yet. Under mpirun or srun the\n"
      "ranks share the work; with -j, or where there are several GPUs or nodes, each job is a\n"
      "process of its own, watched and started again if it fails. Stopped or killed, the same\n"
      "command resumes.");
  line.examples({"run configs/tiny.yaml",
                 "run configs/quickstart.yaml --set train.lr=1e-3,3e-3 --store results/rates"});
  run_options(line)
      .list("rerun", "CELL", "train this cell again although it has a result; repeatable")
      .flag("shared-group", "share the store with its group, whose users may run in it, too")
      .flag("dry-run,n", "show the plan instead");
  supervision_options(line)
      .flag("supervise", "as with -j, also inside a step that srun or mpirun has started")
      .flag("json", "with --dry-run: print JSON");
  until_ci_options(line)
      .needs("json", "dry-run")
      .excludes("dry-run", "only")
      .excludes("dry-run", "rerun");
  if (!line.parse(arguments)) return 0;
  const bool dry = line.has("dry-run");
  Sweep sweep = dry ? load_planned_sweep(line) : load_sweep(line);
  const std::filesystem::path store = store_of(line, sweep);
  const bool staged = until_ci_of(line).has_value();
  if (staged && (dry || under_launcher() || line.has("only"))) {
    throw UserError(ExitCode::Usage,
                    "run: --until-ci trains whole stages and decides between them: without "
                    "--dry-run, --only and a launcher (-j N makes several processes)");
  }
  if (staged && advance_two_stage(line, sweep, store)) sweep = load_sweep(line);
  if (!staged && launcher_rank() == 0) report_added_seeds(line, sweep, store);
  chosen_cells(sweep, line.text_of("only"));  // refused here rather than by every rank
  if (dry) return print_plan(sweep, store, 1, line.has("json"));

  if (launcher_rank() == 0 && !sweep.run.null("budget.store_bytes")) {
    refuse_over_budget(sweep.goals.empty() ? sweep : load_planned_sweep(line), store);
  }
  RunRequest request = run_request(line, sweep);
  request.command.rerun = cells_again(line, sweep);
  request.command.shared_group = line.has("shared-group");
  if (request.command.progress != "json") warn_of_leftovers();
  const bool jobs = line.number_of("jobs", 0) > 0;
  if (jobs && launcher_ranks() > 1) {
    throw UserError(ExitCode::Usage,
                    fmt::format("run: -j starts processes of its own, and this is one of {} ranks "
                                "of a launcher: type it without the launcher, or leave -j out",
                                launcher_ranks()));
  }
  const bool supervised =
      line.has("supervise") || jobs || (!under_launcher() && serves_many(sweep.run));
  if (!supervised && line.has("fail-fast")) {
    throw UserError(ExitCode::Usage,
                    "run: --fail-fast belongs to -j N or --supervise: one worker trains all cells");
  }
  if (!supervised && under_launcher()) become(worker_command("run", command_json(request.command)));
  std::signal(SIGPIPE, SIG_IGN);  // as in the worker: the summary may have lost its reader
  const int code = supervised ? supervise_and_conclude(supervised_run(line, std::move(request)))
                              : run_and_conclude(request);
  return staged ? next_stage(line, arguments, sweep, store, code) : code;
}

}  // namespace depthgrid
