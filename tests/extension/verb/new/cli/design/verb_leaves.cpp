#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/verbs.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

int leaves_verb(const Arguments& arguments) {
  CommandLine line("leaves [--json]", "Prints how many keys a sweep file may have.");
  line.examples({"leaves", "leaves --json"}).flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::size_t count = schema().size();
  print(line.has("json") ? fmt::format("{{\"schema\": 1, \"leaves\": {}}}\n", count)
                         : fmt::format("{}\n", count));
  return 0;
}

}  // namespace depthgrid
