#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/version.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {
namespace {

struct Verb {
  const char* name;
  const char* arguments;
  const char* summary;
  int (*run)(const Arguments& arguments);
};

constexpr Verb kVerbs[] = {
    {"validate", "FILE", "check a sweep file", validate_verb},
    {"plan", "FILE", "show cells, jobs, counts and costs", plan_verb},
    {"audit", "FILE", "check models before they train", audit_verb},
    {"run", "FILE", "train what has no result yet", run_verb},
    {"status", "[STORE]", "count cells by state, list problems", status_verb},
    {"results", "[STORE]", "table of metrics", results_verb},
    {"logs", "CELL [STORE]", "what happened to one cell", logs_verb},
    {"eval", "[STORE] --cell CELL", "loss of a cell's weights on data", eval_verb},
    {"generate", "[STORE] --cell CELL", "continue a prompt", generate_verb},
    {"export", "[STORE] --cell CELL", "write a cell's weights as safetensors", export_verb},
    {"check", "gate|forward|…", "the arithmetic of a model as JSON", check_verb},
    {"pack", "[STORE]", "bring sweep.h5 up to date", pack_verb},
    {"schema", "", "print every key of a sweep file", schema_verb},
    {"bench", "step|decode|…", "time training steps, decoding, the optimiser", bench_verb}};

std::string usage() {
  std::string text =
      "depthgrid trains grids of small transformers whose depth is a dynamical system.\n\n"
      "usage: depthgrid VERB [arguments]\n\n";
  for (const Verb& verb : kVerbs) {
    text += fmt::format("  {:<9} {:<19} {}\n", verb.name, verb.arguments, verb.summary);
  }
  return text +
         "  help      VERB                options of a verb (also: VERB --help)\n"
         "  --version                     version and commit\n\n"
         "STORE is the folder of a store or a sweep file.\n";
}

int dispatch(std::vector<std::string> words) {
  if (words.empty()) throw UserError(ExitCode::Usage, "a verb is missing\n\n" + usage());
  if (words[0] == "--version" || words[0] == "version") {
    print("depthgrid " + code_version() + "\n");
    return 0;
  }
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
    if (words.size() == 1) {
      print(usage());
      return 0;
    }
    words = {words[1], "--help"};
  }
  const auto* verb = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                  [&](const Verb& v) { return words[0] == v.name; });
  if (verb == std::end(kVerbs)) {
    std::vector<std::string> names;
    for (const Verb& v : kVerbs) names.emplace_back(v.name);
    const std::string near = nearest(words[0], names);
    throw UserError(ExitCode::Usage,
                    fmt::format("unknown verb '{}'{}\n\n{}", words[0],
                                near.empty() ? "" : " (did you mean '" + near + "'?)", usage()));
  }
  words.erase(words.begin());
  return verb->run(words);
}

/// All ranks of a launcher have the same command line and sweep file, and those on one host the
/// same disks and programs, so only one of them reports an error. The others wait for it, since a
/// launcher ends all ranks when the first one exits.
bool speaks(ExitCode code) {
  if ((code == ExitCode::Usage ? launcher_rank() : launcher_local_rank()) == 0) return true;
  std::this_thread::sleep_for(std::chrono::seconds(10));
  return false;
}

int guarded(const std::vector<std::string>& words) {
  try {
    return dispatch(words);
  } catch (const SweepErrors& e) {  // every line already names its file
    if (speaks(e.code())) fmt::print(stderr, "{}\n", e.what());
    return number_of(e.code());
  } catch (const UserError& e) {
    if (speaks(e.code())) fmt::print(stderr, "depthgrid: {}\n", e.what());
    return number_of(e.code());
  } catch (const Error& e) {
    fmt::print(stderr, "depthgrid: {} ({})\n", e.what(), e.where());
  } catch (const std::exception& e) {
    fmt::print(stderr, "depthgrid: {}\n", e.what());
  }
  return number_of(ExitCode::Failed);
}

}  // namespace
}  // namespace depthgrid

int main(int argc, char** argv) {
  return depthgrid::guarded({argv + 1, argv + argc});
}
