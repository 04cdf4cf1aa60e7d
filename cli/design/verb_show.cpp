#include "cli/arguments/command_line.hpp"
#include "cli/design/cell_settings_argument.hpp"
#include "cli/verbs.hpp"

namespace depthgrid {

int show_verb(const Arguments& arguments) {
  CommandLine line("show CELL [STORE] [--all] [--json]",
                   "The resolved configuration of a cell: every leaf that it reads, its value and "
                   "where\nthat comes from. With a sweep file as STORE, the lines that wrote it.");
  line.examples({"show hidden=4,s0 configs/tiny.yaml", "show 9867 results/tiny --all --json"});
  line.argument("CELL")
      .argument("STORE")
      .sweep_options()
      .text("store", "DIR", "folder of the store, or a sweep file")
      .flag("all", "leaves that the cell does not read, too")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::string cell = line.required("CELL");
  const CellSettingsArgument argument(line);
  const std::size_t row = argument.row(cell);
  print(line.has("json") ? settings_json(argument.settings, row)
                         : settings_text(argument.settings, row, line.has("all")));
  return 0;
}

}  // namespace depthgrid
