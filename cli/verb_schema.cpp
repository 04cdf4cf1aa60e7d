#include "cli/command_line.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

int schema_verb(const Arguments& arguments) {
  CommandLine line(
      "schema [--json | --json-schema | --markdown]",
      "Prints every key of a sweep file with its type, range, unit, default and meaning.");
  line.flag("json", "the table as JSON")
      .flag("json-schema", "a JSON Schema, for editors that check and complete sweep files")
      .flag("markdown", "the reference page");
  if (!line.parse(arguments)) return 0;
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
