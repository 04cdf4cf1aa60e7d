#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/plan/start_check.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

std::size_t structures_of(const Sweep& sweep) {
  std::set<std::string> structures;
  for (const CellPlan& cell : sweep.cells) structures.insert(cell.structure);
  return structures.size();
}

std::string valid_json(const Sweep& sweep) {
  return Json{{"schema", 1},
              {"file", sweep.file},
              {"valid", true},
              {"sweep", sweep.name},
              {"cells", sweep.cells.size()},
              {"structures", structures_of(sweep)},
              {"match", Json::parse(matched_json(sweep.matched))},
              {"notes", sweep.notes},
              {"errors", Json::array()}}
             .dump(2) +
         "\n";
}

std::string invalid_json(const std::string& file, const SweepErrors& errors) {
  Json list = Json::array();
  for (const Diagnostic& d : errors.diagnostics()) {
    list.push_back({{"file", d.file},
                    {"line", d.line},
                    {"column", d.column},
                    {"message", d.message},
                    {"source_line", d.source_line}});
  }
  return Json{{"schema", 1}, {"file", file}, {"valid", false}, {"errors", list}}.dump(2) + "\n";
}

std::string counted(std::size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// Matches counts, and notes what would have to be measured. Matches nothing without the worker.
Sweep checked_sweep(const CommandLine& line) {
  Sweep sweep;
  std::string why = "a step is measured by the first `plan` or `run`";
  try {
    sweep = load_planned_sweep(line, MatchEffort::Counts);
  } catch (const SweepErrors&) {
    throw;
  } catch (const UserError& e) {
    if (e.code() != ExitCode::BadConfig) throw;
    why = e.what();
    sweep = load_sweep(line);
  }
  const std::string unchecked = check_starts(sweep, DescribeCache());
  if (!unchecked.empty()) sweep.notes.push_back(unchecked);
  for (const MatchGoal& goal : sweep.goals) {
    sweep.notes.push_back(fmt::format("match: {} of {} is not known yet: {}", goal.open().leaf,
                                      goal.open().arm, why));
  }
  return sweep;
}

}  // namespace

int validate_verb(const Arguments& arguments) {
  CommandLine line(
      "validate FILE [--set KEY=VALUE]... [--json]",
      "Checks a sweep file and expands its grid. Nothing is written, no corpus is needed.");
  line.examples(
      {"validate configs/tiny.yaml", "validate configs/tiny.yaml --set train.lr=1e-3,1e-2 --json"});
  line.argument("FILE").sweep_options().flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  try {
    const Sweep sweep = checked_sweep(line);
    if (line.has("json")) {
      print(valid_json(sweep));
      return 0;
    }
    std::string text = fmt::format(
        "{}: {}, {}, {}\n", sweep.file, counted(sweep.cells.size(), "cell"),
        counted(structures_of(sweep), "structure"), counted(sweep.notes.size(), "note"));
    for (const MatchedWidth& width : sweep.matched) text += "match: " + matched_text(width) + "\n";
    for (const std::string& note : sweep.notes) text += "note: " + note + "\n";
    print(text);
    return 0;
  } catch (const SweepErrors& errors) {
    if (!line.has("json")) throw;
    print(invalid_json(line.required("FILE"), errors));
    return number_of(errors.code());
  }
}

}  // namespace depthgrid
