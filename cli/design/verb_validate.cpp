#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/json_text.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/plan/start_check.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// What is said of a valid file.
struct Checked {
  SweepSize size;
  std::vector<MatchedWidth> matched = {};
};

Checked checked(Sweep sweep) {
  std::set<std::string> structures;
  for (const CellPlan& cell : sweep.cells) structures.insert(cell.structure);
  return {{.name = std::move(sweep.name),
           .file = std::move(sweep.file),
           .cells = sweep.cells.size(),
           .structures = structures.size(),
           .notes = std::move(sweep.notes)},
          std::move(sweep.matched)};
}

void print_valid_json(const Checked& checked) {
  print_json({{"schema", 1},
              {"file", checked.size.file},
              {"valid", true},
              {"sweep", checked.size.name},
              {"cells", checked.size.cells},
              {"structures", checked.size.structures},
              {"match", parse_ordered_json(matched_json(checked.matched))},
              {"notes", checked.size.notes},
              {"errors", Json::array()}});
}

void print_invalid_json(const std::string& file, const SweepErrors& errors) {
  Json list = Json::array();
  for (const Diagnostic& d : errors.diagnostics()) {
    list.push_back({{"file", d.file},
                    {"line", d.line},
                    {"column", d.column},
                    {"message", d.message},
                    {"source_line", d.source_line}});
  }
  print_json({{"schema", 1}, {"file", file}, {"valid", false}, {"errors", std::move(list)}});
}

std::string counted(std::size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// Matches counts, and notes what would have to be measured. Matches nothing without the worker.
Checked checked_sweep(const CommandLine& line) {
  if (auto size = count_sweep(line)) return {std::move(*size)};
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
  return checked(std::move(sweep));
}

}  // namespace

int validate_verb(const Arguments& arguments) {
  CommandLine line("validate FILE [--set KEY=VALUE]... [--json]",
                   "Checks a sweep file and expands its grid. Nothing is written, and no corpus is "
                   "read\nbut a file of data.path, whose content is part of the cells' identity.");
  line.examples(
      {"validate configs/tiny.yaml", "validate configs/tiny.yaml --set train.lr=1e-3,1e-2 --json"});
  line.argument("FILE").sweep_options();
  if (!line.json().parse(arguments)) return 0;
  try {
    const Checked checked = checked_sweep(line);
    if (line.has("json")) {
      print_valid_json(checked);
      return 0;
    }
    const SweepSize& size = checked.size;
    std::string text =
        fmt::format("{}: {}, {}, {}\n", size.file, counted(size.cells, "cell"),
                    counted(size.structures, "structure"), counted(size.notes.size(), "note"));
    for (const MatchedWidth& width : checked.matched) {
      text += "match: " + matched_text(width) + "\n";
    }
    for (const std::string& note : size.notes) text += "note: " + note + "\n";
    print(text);
    return 0;
  } catch (const SweepErrors& errors) {
    if (!line.has("json")) throw;
    print_invalid_json(line.required("FILE"), errors);
    return number_of(errors.code());
  }
}

}  // namespace depthgrid
