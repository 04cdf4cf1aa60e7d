#include "cli/command_line.hpp"
#include "cli/print_plan.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"

namespace depthgrid {

int plan_verb(const Arguments& arguments) {
  CommandLine line(
      "plan FILE [--store DIR] [--teams N] [--set KEY=VALUE]... [--json]",
      "Shows the cells, the fused jobs and why cells are together, counts and costs of each\n"
      "structure, and what is already done. Nothing is trained, and no corpus is read but\na file "
      "of data.path, whose content is part of the cells' identity.");
  line.examples({"plan configs/tiny.yaml", "plan configs/quickstart.yaml --teams 4 --set seeds=5"});
  line.argument("FILE")
      .sweep_options()
      .text("store", "DIR", "store to compare with (default: results/<name of the sweep>)")
      .number("teams", 1,
              "jobs that train at the same time: ranks of mpirun over resources.ranks_per_job")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::int64_t teams = line.number_of("teams");
  const Sweep sweep = load_planned_sweep(line);
  return print_plan(sweep, store_of(line, sweep), teams, line.has("json"));
}

}  // namespace depthgrid
