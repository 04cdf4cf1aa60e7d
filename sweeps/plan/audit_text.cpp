#include <cmath>

#include <fmt/format.h>

#include "core/base/grouped.hpp"
#include "core/config/presets.hpp"
#include "sweeps/plan/structure_audit.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

std::string shown(double value) {
  if (std::isnan(value)) return "-";
  const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
  return whole ? grouped(static_cast<std::int64_t>(value)) : fmt::format("{:.5g}", value);
}

std::string verdict_text(const AuditResult& check, const AuditLevels& levels) {
  const auto level = levels.find(check.name);
  const bool warns = level != levels.end() && level->second == AuditLevel::Warn;
  if (check.verdict == AuditVerdict::Fail) return warns ? "fail (warning)" : "FAIL";
  return std::string(name_of(check.verdict));
}

std::string modules_text(const StructureAudit& a) {
  Table table = titled_table({"  module", ">parameters"});
  for (const auto& [name, count] : a.modules) table.rows.push_back({"  " + name, grouped(count)});
  return text_of(table);
}

std::string modes_text(const StructureAudit& a) {
  std::string text;
  for (const AuditMode& m : a.modes) {
    text += (text.empty() ? "modes: " : ", ") + m.name +
            (m.causal ? " causal" : " looks ahead (" + m.reason + ")");
  }
  return text + "\n";
}

}  // namespace

std::string audit_text(const StructureAudit& a, const AuditLevels& levels) {
  std::string text = fmt::format("structure {}, family {}{}\n", a.structure, a.family,
                                 a.preset.empty() ? "" : ", preset " + a.preset);
  text += fmt::format(
      "parameters: {} stored ({}), {} trainable, {} effective; {} FLOPs per token, forward\n",
      grouped(a.parameters),
      a.closed_form ? "closed form " + grouped(*a.closed_form) : "no closed form known",
      grouped(a.trainable), grouped(a.effective), shown(a.flops_per_token));
  text += modules_text(a) + modes_text(a);
  for (const auto& [name, reason] : a.dead) text += "dead: " + name + " (" + reason + ")\n";
  for (const PresetChange& c : a.changed) {
    text +=
        fmt::format("not the preset's: {} is {}, the preset has {}\n", c.leaf, c.here, c.preset);
  }
  for (const PresetDeviation& d : preset_deviations(a.preset)) {
    text += fmt::format("deviation, {}: published: {}; here: {}\n", d.what, d.published, d.here);
  }
  Table table = titled_table({"check", "verdict", ">value", ">threshold", "note"});
  for (const AuditResult& c : a.checks) {
    table.rows.push_back(
        {c.name, verdict_text(c, levels), shown(c.value), shown(c.threshold), c.note});
  }
  return text + text_of(table) + fmt::format("audited in {}\n", short_seconds(a.seconds));
}

}  // namespace depthgrid
