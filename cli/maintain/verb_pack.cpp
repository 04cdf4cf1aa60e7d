#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/log.hpp"
#include "storage/pack/pack.hpp"

namespace depthgrid {

int pack_verb(const Arguments& arguments) {
  CommandLine line("pack [STORE] [--json]",
                   "Brings sweep.h5 of a store up to date: the records of all cells in one file.\n"
                   "run does this at its end; pack is for a sweep that is still training.");
  line.examples({"pack results/tiny", "pack configs/tiny.yaml --json"});
  store_options(line);
  if (!line.json().parse(arguments)) return 0;
  const PackReport report = pack(StoreArgument(line).open());
  if (line.has("json")) {
    print_json({{"schema", 1},
                {"file", report.file.string()},
                {"cells", report.cells},
                {"finished", report.finished},
                {"added", report.added},
                {"written", report.written},
                {"problems", report.problems}});
  } else {
    for (const std::string& problem : report.problems) log(LogLevel::Warning, problem);
    print(fmt::format(
        "{}: {} of {} cells finished, {}\n", report.file.string(), report.finished, report.cells,
        report.written ? fmt::format("{} added", report.added) : "already up to date"));
  }
  return number_of(report.problems.empty() ? ExitCode::Done : ExitCode::Partial);
}

}  // namespace depthgrid
