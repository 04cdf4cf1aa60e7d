#include "cli/arguments/command_line.hpp"
#include "cli/design/cell_settings_argument.hpp"
#include "cli/verbs.hpp"

namespace depthgrid {

int diff_verb(const Arguments& arguments) {
  CommandLine line("diff CELL CELL [STORE] [--json]",
                   "The leaves in which the configurations of two cells differ.");
  line.examples({"diff hidden=4,s0 hidden=8,s0 results/tiny",
                 "diff fa63 4de3 configs/quickstart.yaml --json"});
  line.argument("CELL")
      .argument("OTHER")
      .argument("STORE")
      .sweep_options()
      .text("store", "DIR", "folder of the store, or a sweep file")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::string first = line.required("CELL");
  const std::string second = line.required("OTHER");
  const CellSettingsArgument argument(line);
  const std::size_t a = argument.row(first);
  const std::size_t b = argument.row(second);
  print(line.has("json") ? difference_json(argument.settings, a, b)
                         : difference_text(argument.settings, a, b));
  return 0;
}

}  // namespace depthgrid
