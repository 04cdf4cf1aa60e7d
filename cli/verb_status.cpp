#include "cli/command_line.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "sweeps/report/status_report.hpp"

namespace depthgrid {

int status_verb(const Arguments& arguments) {
  CommandLine line(
      "status [STORE] [--json]",
      "Counts cells by state and lists the problems. STORE is the folder of a store or a\n"
      "sweep file. Returns 3 while cells are pending or running, 4 if some failed, else 0.");
  line.examples({"status results/tiny", "status configs/tiny.yaml --json"});
  line.argument("STORE")
      .sweep_options()
      .text("store", "DIR", "store of the sweep file")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const Listing listing = StoreArgument(line).listing();
  print(line.has("json") ? status_json(listing) : status_text(listing, colour_of_stdout()));
  return number_of(status_code(listing));
}

}  // namespace depthgrid
