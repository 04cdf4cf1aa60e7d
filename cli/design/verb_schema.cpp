#include "cli/arguments/command_line.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/config/schema.hpp"
#include "sweeps/report/filter.hpp"

namespace depthgrid {

namespace {

/// The leaf, all leaves of a group ("train.schedule"), or all whose path begins so.
/// @throws UserError (Usage)
std::vector<std::size_t> leaves_named(const std::string& text) {
  std::vector<std::size_t> rows, begin_so;
  std::vector<std::string> paths;
  for (std::size_t row = 0; row < schema().size(); ++row) {
    const std::string_view path = schema()[row].path;
    paths.emplace_back(path);
    if (path == text || path.starts_with(text + ".")) rows.push_back(row);
    if (path.starts_with(text) && text.find('.') != std::string::npos) begin_so.push_back(row);
  }
  if (!rows.empty()) return rows;
  if (!begin_so.empty()) return begin_so;
  return {leaf_index(resolve_name(text, paths, "depthgrid schema"))};
}

}  // namespace

int schema_verb(const Arguments& arguments) {
  CommandLine line(
      "schema [LEAF] [--json | --json-schema | --markdown]",
      "Prints every key of a sweep file with its type, range, unit, default and meaning.\n"
      "LEAF is one leaf (train.lr, or its end where that is unique), a group (train.schedule), or\n"
      "the beginning of several leaves.");
  line.examples({"schema train.lr", "schema --json-schema > sweep.schema.json"});
  line.argument("LEAF")
      .flag("json", "the table as JSON")
      .flag("json-schema", "a JSON Schema, for editors that check and complete sweep files")
      .flag("markdown", "the reference page");
  if (!line.parse(arguments)) return 0;
  if (line.has("LEAF")) {
    if (line.has("json-schema") || line.has("markdown")) {
      throw UserError(ExitCode::Usage, "schema LEAF prints text or --json");
    }
    const std::vector<std::size_t> rows = leaves_named(line.text_of("LEAF"));
    print(line.has("json") ? leaves_json(rows) + "\n" : leaves_text(rows));
    return 0;
  }
  struct Form {
    const char* flag;
    std::string (*text)();
  };
  constexpr Form kForms[] = {
      {"json", schema_json}, {"json-schema", json_schema}, {"markdown", schema_markdown}};
  std::string (*chosen)() = schema_text;
  for (const Form& form : kForms) {
    if (!line.has(form.flag)) continue;
    if (chosen != schema_text) throw UserError(ExitCode::Usage, "schema prints one form at a time");
    chosen = form.text;
  }
  std::string text = chosen();
  if (!text.ends_with('\n')) text += '\n';
  print(text);
  return 0;
}

}  // namespace depthgrid
