#include "worker/audit/audit_permit.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "distributed/agree.hpp"
#include "sweeps/protocol/audited_cells.hpp"
#include "worker/audit/audit_service.hpp"
#include "worker/process/stop_signals.hpp"

namespace depthgrid {
namespace {

/// Row of the first cell of each structure that has a wanted cell, according to the first rank.
std::vector<std::size_t> representatives(Collective& world, const Sweep& sweep,
                                         const std::vector<bool>& wanted) {
  std::set<std::string> structures;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) structures.insert(sweep.cells[i].structure);
  }
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    if (structures.erase(sweep.cells[i].structure) > 0) rows.push_back(i);
  }
  const std::string text = broadcast_text(world, json_text(nlohmann::json(rows)), 0);
  return parse_json(text).get<std::vector<std::size_t>>();
}

/// Logs the result of an audit that has just finished.
void report(const StructureAudit& audit, const AuditLevels& levels, const std::string& alias,
            Progress& progress) {
  std::int64_t passed = 0, made = 0;
  for (const AuditResult& c : audit.checks) {
    made += c.verdict == AuditVerdict::Off ? 0 : 1;
    passed += c.verdict == AuditVerdict::Pass ? 1 : 0;
  }
  progress.notify(fmt::format("audit of {} ({}): {} of {} checks passed, {:.1f} s", alias,
                              audit.structure, passed, made, audit.seconds));
  const auto stops = blocking(audit, levels);
  for (const AuditResult& c : audit.checks) {
    if (c.verdict == AuditVerdict::Pass || c.verdict == AuditVerdict::Off) continue;
    if (std::ranges::find(stops, &c) != stops.end()) continue;  // part of the error
    log(LogLevel::Warning,
        fmt::format("audit of {}: {} {}: {}", alias, c.name, name_of(c.verdict), c.note));
  }
}

/// Text of the error; empty if everything may train.
std::string refusal(const AuditPermit& permit, const Sweep& sweep) {
  std::string text;
  for (const auto& [structure, audit] : permit.audits) {
    const auto at = std::ranges::find(sweep.cells, structure, &CellPlan::structure);
    for (const AuditResult* c : blocking(audit, permit.levels)) {
      text += fmt::format("\n  {} (structure {}): {}: {}; value {:.6g}, threshold {:.6g}",
                          at->alias, structure, c->name, c->note, c->value, c->threshold);
    }
  }
  if (text.empty()) return text;
  return "the audit refuses to train:" + text +
         "\n`depthgrid audit` shows everything; `audit: {CHECK: warn}` (or off) in the sweep file "
         "trains anyway";
}

double code_of(const AuditResult& check, const AuditLevels& levels) {
  const auto level = levels.find(check.name);
  const bool warns = level != levels.end() && level->second == AuditLevel::Warn;
  if (check.verdict == AuditVerdict::Fail && warns) return 1;
  constexpr double kCodes[] = {0, 2, 4, -1, 3};  // pass, fail, undecided, skipped, off
  return kCodes[static_cast<std::size_t>(check.verdict)];
}

}  // namespace

AuditPermit pass_audits(Collective& world, const Sweep& sweep, const std::vector<bool>& wanted,
                        double memory_bytes, Progress& progress) {
  AuditPermit permit{.levels = audit_levels(sweep.run)};
  const std::vector<std::size_t> rows = representatives(world, sweep, wanted);
  std::string waiting;  // said when the first check of a structure begins, if one is not known
  AuditService service(memory_bytes, false, [&] {
    if (!waiting.empty()) progress.notify(std::exchange(waiting, ""));
    return stop_requested();
  });
  std::vector<StructureAudit> mine;
  for (std::size_t i = 0; i < rows.size() && !permit.stopped; ++i) {
    if (static_cast<int>(i) % world.size() != world.rank()) continue;
    const CellPlan& cell = sweep.cells.at(rows[i]);
    std::vector<const CellConfig*> configs;
    for (const CellPlan* one : audited_cells(sweep.cells, cell)) configs.push_back(&one->config);
    waiting = fmt::format("auditing {} (structure {} of {}; once for each)", cell.alias, i + 1,
                          rows.size());
    const auto audit = service.audit(cell.structure, configs, permit.levels);
    permit.stopped = !audit || stop_requested();
    if (!audit) continue;
    if (service.worked()) report(*audit, permit.levels, cell.alias, progress);
    mine.push_back(*audit);
  }
  for (const std::string& text : gather_text(world, audits_json(mine))) {
    for (StructureAudit& a : parse_audits(text)) permit.audits[a.structure] = std::move(a);
  }
  permit.stopped = on_any(world, permit.stopped);
  const std::string text = permit.stopped ? "" : refusal(permit, sweep);
  if (!text.empty()) throw SharedError(ExitCode::Failed, text);
  return permit;
}

void set_audit(CellFacts& facts, const AuditPermit& permit, const std::string& structure) {
  const auto at = permit.audits.find(structure);
  if (at == permit.audits.end()) return;
  std::vector<double> verdicts, values, thresholds;
  for (const std::string_view name : kAuditCheckNames) {
    const AuditResult* check = at->second.find(name);
    verdicts.push_back(check == nullptr ? -1 : code_of(*check, permit.levels));
    values.push_back(check == nullptr ? kNaN : check->value);
    thresholds.push_back(check == nullptr ? kNaN : check->threshold);
  }
  facts.set("audit_verdict", verdicts);
  facts.set("audit_value", values);
  facts.set("audit_threshold", thresholds);
  std::string declared;
  for (const AuditMode& m : at->second.modes) {
    if (!m.causal) declared += (declared.empty() ? "" : "; ") + m.name + ": " + m.reason;
  }
  facts.set("audit_declaration", std::string_view(declared));
}

}  // namespace depthgrid
