#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/log.hpp"
#include "storage/leftovers.hpp"
#include "storage/run_leftovers.hpp"

namespace depthgrid {
namespace {

nlohmann::ordered_json json_of(const Leftovers& found) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const auto& file : found.files) files.push_back(file.string());
  return {{"files", files}, {"bytes", found.bytes}};
}

std::string text_of(const Leftovers& found, const char* place, bool dry) {
  return fmt::format("{}: {} file(s), {:.1f} MB {}\n", place, found.files.size(),
                     static_cast<double>(found.bytes) / 1e6, dry ? "to remove" : "removed");
}

}  // namespace

int gc_verb(const Arguments& arguments) {
  CommandLine line(
      "gc [STORE] [-n] [--json]",
      "Removes what killed processes have left behind: Open MPI's files in /dev/shm of\n"
      "this machine and, if STORE is named, its unfinished files, the channels of runs that\n"
      "have died and requests that were carried out. Files that a living process uses, and all\n"
      "results, stay.");
  line.examples({"gc", "gc results/tiny --dry-run"});
  store_options(line).flag("dry-run,n", "only say what would be removed");
  if (!line.json().parse(arguments)) return 0;
  const bool dry = line.has("dry-run");
  std::optional<Store> store;
  if (line.has("STORE") || line.has("store")) store = StoreArgument(line).open();
  const Leftovers memory = shared_memory_leftovers();
  const Leftovers unfinished = store ? store_leftovers(*store) : Leftovers{};
  const Leftovers runs = store ? run_leftovers(*store) : Leftovers{};
  std::vector<std::string> problems;
  for (const Leftovers* found : {&memory, &unfinished, &runs}) {
    if (dry) break;
    for (std::string& problem : remove_leftovers(*found)) problems.push_back(std::move(problem));
  }
  if (line.has("json")) {
    print_json({{"schema", 1},
                {"removed", !dry},
                {"shared_memory", json_of(memory)},
                {"store", json_of(unfinished)},
                {"runs", json_of(runs)},
                {"problems", problems}});
  } else {
    for (const std::string& problem : problems) log(LogLevel::Warning, problem);
    print(text_of(memory, "/dev/shm", dry));
    if (store) print(text_of(unfinished, "store", dry) + text_of(runs, "runs", dry));
  }
  return number_of(problems.empty() ? ExitCode::Done : ExitCode::Partial);
}

}  // namespace depthgrid
