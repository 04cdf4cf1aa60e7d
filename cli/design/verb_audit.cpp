#include <string>
#include <vector>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/command.hpp"
#include "core/base/error.hpp"
#include "sweeps/plan/structure_audit.hpp"
#include "sweeps/protocol/audited_cells.hpp"
#include "sweeps/protocol/sweep_of_model.hpp"
#include "sweeps/protocol/worker_command.hpp"

namespace depthgrid {
namespace {

Sweep audited_sweep(const CommandLine& line) {
  const int named = int{line.has("FILE")} + int{line.has("family")} + int{line.has("preset")};
  if (named != 1) {
    throw UserError(ExitCode::Usage,
                    "audit: name a sweep file, or --family NAME, or --preset NAME: one of them");
  }
  for (const char* leaf : {"family", "preset"}) {
    if (line.has(leaf)) {
      return sweep_of_model(leaf, line.text_of(leaf), line.list_of("set"), line.has("yes"));
    }
  }
  return load_planned_sweep(line);
}

}  // namespace

int audit_verb(const Arguments& arguments) {
  CommandLine line(
      "audit FILE | --family NAME | --preset NAME [--set KEY=VALUE]... [--fresh] [--json]",
      "Checks each structure before anything trains: causality to the bit, batch independence,\n"
      "parameter counts, gradients, first loss, overfitting, entropy floor, fused = alone,\n"
      "scores, positions, a step of training, effects of leaves.\n"
      "run does it by itself. Exit 1 if a required check fails.");
  line.examples({"audit configs/tiny.yaml", "audit --family tdt --set model.n_layers=4"});
  line.argument("FILE")
      .sweep_options()
      .text("family", "NAME", "model.family with its defaults, in place of a file")
      .text("preset", "NAME", "model.preset, in place of a file")
      .flag("fresh", "ignore cached verdicts");
  if (!line.json().parse(arguments)) return 0;
  const Sweep sweep = audited_sweep(line);
  const CommandAnswer answer =
      ask(own_question(worker_command("audit")), audit_request(sweep.cells, line.has("fresh")));
  if (answer.code != 0) return answer.code;  // the worker has printed the reason
  const std::vector<StructureAudit> audits = parse_audits(answer.out);
  const AuditLevels levels = audit_levels(sweep.run);
  std::string text;
  bool refused = false;
  for (const StructureAudit& audit : audits) {
    refused = refused || !blocking(audit, levels).empty();
    text += (text.empty() ? "" : "\n") + audit_text(audit, levels);
  }
  print(line.has("json") ? audits_json(audits) + "\n" : text);
  return number_of(refused ? ExitCode::Failed : ExitCode::Done);
}

}  // namespace depthgrid
