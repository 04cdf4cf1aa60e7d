#include "cli/train/run_options.hpp"

#include <utility>

#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"

namespace depthgrid {

CommandLine& run_options(CommandLine& line) {
  return sweep_file_options(line)
      .flag("allow-inexact", "as --set resources.allow_inexact=true: resume other ranks' sums")
      .flag("quiet,q", "no progress")
      .flag("json-progress", "progress as one JSON object per line, on stderr")
      .text("only", "EXPRESSION",
            "train only the cells that meet a condition, as results --filter");
}

CommandLine& supervision_options(CommandLine& line) {
  return line
      .number("jobs,j", 0,
              "jobs that train at the same time, each a process; 0: as the machine has")
      .flag("fail-fast", "with -j: stop when the first cell has failed");
}

std::string progress_of(const CommandLine& line) {
  if (line.has("json-progress")) return "json";
  return line.has("quiet") ? "quiet" : "auto";
}

RunRequest run_request(const CommandLine& line, Sweep sweep) {
  RunRequest out{.sweep = std::move(sweep),
                 .planned = [&line] { return load_planned_sweep(line); },
                 .store = {},
                 .command = {}};
  out.store = store_of(line, out.sweep);
  out.command = {.file = line.required("FILE"),
                 .store = out.store.string(),
                 .set = set_with_added_seeds(line, out.sweep, out.store),
                 .yes = line.has("yes"),
                 .progress = progress_of(line),
                 .only = line.text_of("only"),
                 .hang = hang_of(out.sweep.run)};
  if (line.has("allow-inexact")) out.command.set.emplace_back("resources.allow_inexact=true");
  return out;
}

SupervisedRun supervised_run(const CommandLine& line, RunRequest request) {
  SupervisedRun out{.request = std::move(request), .fail_fast = line.has("fail-fast")};
  if (const std::int64_t jobs = line.number_of("jobs", 0); jobs > 0) out.slots = jobs;
  return out;
}

}  // namespace depthgrid
