#include "worker/worker_verbs.hpp"

#include <algorithm>
#include <istream>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/exit_code.hpp"
#include "core/base/output.hpp"
#include "worker/audit/audit_service.hpp"
#include "worker/bench/bench.hpp"
#include "worker/describe/describe.hpp"
#include "worker/eval/eval_cell.hpp"
#include "worker/generate/generate.hpp"
#include "worker/inspect/inspections.hpp"
#include "worker/probe/probe_cells.hpp"
#include "worker/probe/probe_text.hpp"
#include "worker/run/run_service.hpp"
#include "worker/weights/export_weights.hpp"

namespace depthgrid {
namespace {

int answer(const std::string& json, ExitCode code = ExitCode::Done) {
  print(json + '\n');
  return static_cast<int>(code);
}

int check_verb(const WorkerCall& call) {
  const CheckAnswer found = check(call.command);
  return answer(found.json, found.code);
}

using enum CommandFrom;
using Call = const WorkerCall&;
constexpr WorkerVerb kVerbs[] = {
    {"run", Argument,
     [](Call c) { return run(parse_command<RunCommand>(c.command), c.argc, c.argv); }},
    {"bench", Argument, [](Call c) { return bench(parse_command<BenchCommand>(c.command)); }},
    {"export", Argument,
     [](Call c) { return export_weights(parse_command<ExportCommand>(c.command)); }},
    {"eval", Argument, [](Call c) { return eval_cell(parse_command<EvalCommand>(c.command)); }},
    {"probe", Argument, [](Call c) { return probe_cells(parse_command<ProbeCommand>(c.command)); }},
    {"generate", Argument,
     [](Call c) { return generate(parse_command<GenerateCommand>(c.command)); }},
    {"tokens", Argument,
     [](Call c) { return answer(probe_text(parse_command<TokensCommand>(c.command))); }},
    {"describe", Input, [](Call c) { return answer(describe(c.command)); }},
    {"audit", Input, [](Call c) { return answer(audit(c.command)); }},
    {"check", Input, check_verb}};

}  // namespace

std::span<const WorkerVerb> worker_verbs() {
  return kVerbs;
}

std::string worker_usage(std::span<const WorkerVerb> verbs) {
  std::vector<std::string_view> by_argument, by_input;
  for (const WorkerVerb& verb : verbs) {
    (verb.from == Argument ? by_argument : by_input).emplace_back(verb.name);
  }
  return fmt::format(
      "usage: depthgrid-worker {} ORDER |\n"
      "       {} < REQUEST.json | --version\n"
      "It is started by depthgrid; see depthgrid --help.\n",
      fmt::join(by_argument, "|"), fmt::join(by_input, "|"));
}

int dispatch(std::span<const WorkerVerb> verbs, int argc, char** argv, std::istream& input) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto verb = std::ranges::find(verbs, name, &WorkerVerb::name);
  if (verb == verbs.end() || (verb->from == Argument && argc != 3)) {
    print_to_stderr(worker_usage(verbs));
    return static_cast<int>(ExitCode::Usage);
  }
  WorkerCall call{"", argc, argv};
  call.command = verb->from == Argument ? std::string(argv[2])
                                        : std::string{std::istreambuf_iterator<char>(input), {}};
  return verb->run(call);
}

}  // namespace depthgrid
