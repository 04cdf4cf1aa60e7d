#include "cli/verbs.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/output.hpp"
#include "core/base/version.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

std::string usage(std::span<const Verb> verbs) {
  std::string text =
      "depthgrid trains grids of small transformers whose depth is a dynamical system.\n\n"
      "usage: depthgrid VERB [arguments]\n\n";
  for (const Verb& verb : verbs) {
    text += fmt::format("  {:<10} {:<19} {}\n", verb.name, verb.arguments, verb.summary);
  }
  return text +
         "  help       VERB                options of a verb (also: VERB --help)\n"
         "  --version                      version and commit\n\n"
         "STORE is the folder of a store or a sweep file.\n";
}

int dispatch(std::span<const Verb> verbs, Arguments words) {
  if (words.empty()) throw UserError(ExitCode::Usage, "a verb is missing\n\n" + usage(verbs));
  if (words[0] == "--version" || words[0] == "version") {
    print("depthgrid " + code_version() + "\n");
    return 0;
  }
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
    if (words.size() == 1) {
      print(usage(verbs));
      return 0;
    }
    words = {words[1], "--help"};
  }
  const auto verb = std::ranges::find_if(verbs, [&](const Verb& v) { return words[0] == v.name; });
  if (verb == verbs.end()) {
    std::vector<std::string> names;
    for (const Verb& v : verbs) names.emplace_back(v.name);
    const std::string near = nearest(words[0], names);
    throw UserError(
        ExitCode::Usage,
        fmt::format("unknown verb '{}'{}\n\n{}", words[0],
                    near.empty() ? "" : " (did you mean '" + near + "'?)", usage(verbs)));
  }
  words.erase(words.begin());
  try {
    return verb->run(words);
  } catch (const std::filesystem::filesystem_error& e) {  // an unreadable folder, a name too long
    throw UserError(ExitCode::NoInput,
                    fmt::format("{}: {}", e.path1().string(), e.code().message()));
  }
}

}  // namespace depthgrid
