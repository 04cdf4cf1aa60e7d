#include "sweeps/plan/structure_audit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/enum_words.hpp"
#include "core/base/error.hpp"
#include "core/base/grouped.hpp"
#include "core/base/json_members.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/config/presets.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kVerdicts = {"pass", "fail", "undecided", "skipped",
                                                       "off"};

constexpr auto kParameters =
    json_members("stored", &StructureAudit::parameters, "trainable", &StructureAudit::trainable,
                 "effective", &StructureAudit::effective);
constexpr auto kMode = json_members("name", &AuditMode::name, "causal", &AuditMode::causal,
                                    "reason", &AuditMode::reason);

AuditVerdict verdict_of(const std::string& name) {
  if (const auto known = enum_of<AuditVerdict>(kVerdicts, name)) return *known;
  throw Error("audit: unknown verdict '" + name + "'");
}

double number_of(const Json& j) {
  return j.is_number() ? j.get<double>() : kNaN;
}

Json parameters_json(const StructureAudit& a) {
  Json modules = Json::object();
  for (const auto& [name, count] : a.modules) modules[name] = count;
  Json out = object_of<Json>(a, kParameters);
  out["closed_form"] = a.closed_form ? Json(*a.closed_form) : Json();
  out["flops_per_token"] = a.flops_per_token;
  out["modules"] = std::move(modules);
  return out;
}

Json audit_json(const StructureAudit& a) {
  Json modes = Json::array(), dead = Json::array(), checks = Json::array();
  Json deviations = Json::array(), changed = Json::array();
  for (const AuditMode& m : a.modes) modes.push_back(object_of<Json>(m, kMode));
  for (const auto& [name, reason] : a.dead) dead.push_back({{"name", name}, {"reason", reason}});
  for (const PresetDeviation& d : preset_deviations(a.preset)) {
    deviations.push_back({{"what", d.what}, {"published", d.published}, {"here", d.here}});
  }
  for (const PresetChange& c : a.changed) {
    changed.push_back({{"leaf", c.leaf},
                       {"preset", parse_ordered_json(c.preset)},
                       {"here", parse_ordered_json(c.here)}});
  }
  for (const AuditResult& c : a.checks) {
    checks.push_back({{"name", c.name},
                      {"verdict", name_of(c.verdict)},
                      {"value", c.value},
                      {"threshold", c.threshold},
                      {"note", c.note}});
  }
  return {{"structure", a.structure},
          {"family", a.family},
          {"preset", a.preset.empty() ? Json() : Json(a.preset)},
          {"parameters", parameters_json(a)},
          {"modes", modes},
          {"dead_parameters", dead},
          {"changed", changed},
          {"deviations", deviations},
          {"checks", checks},
          {"seconds", a.seconds}};
}

StructureAudit audit_of(const Json& j) {
  StructureAudit a;
  a.structure = j.at("structure");
  a.family = j.at("family");
  if (j.at("preset").is_string()) a.preset = j.at("preset");
  for (const Json& c : j.at("changed")) {
    a.changed.push_back({c.at("leaf"), json_text(c.at("preset")), json_text(c.at("here"))});
  }
  const Json& p = j.at("parameters");
  take_members(p, a, kParameters);
  if (p.at("closed_form").is_number()) a.closed_form = p.at("closed_form").get<std::int64_t>();
  a.flops_per_token = p.at("flops_per_token");
  for (const auto& [name, count] : p.at("modules").items()) a.modules.emplace_back(name, count);
  for (const Json& m : j.at("modes")) take_members(m, a.modes.emplace_back(), kMode);
  for (const Json& d : j.at("dead_parameters")) a.dead.emplace_back(d.at("name"), d.at("reason"));
  for (const Json& c : j.at("checks")) {
    a.checks.push_back({c.at("name"), verdict_of(c.at("verdict")), number_of(c.at("value")),
                        number_of(c.at("threshold")), c.at("note")});
  }
  a.seconds = j.at("seconds");
  return a;
}

constexpr std::array<std::string_view, 4> kKeyLeaves = {"data.seq_len", "train.precision",
                                                        "train.optimizer", "train.clip_scope"};

/// The leaves that an audit depends on, as canonical JSON.
std::string key_of(const std::vector<const CellConfig*>& cells) {
  nlohmann::json all = nlohmann::json::array();
  for (const CellConfig* cell : cells) {
    const nlohmann::json leaves = parse_json(cell->json());
    nlohmann::json& kept = all.emplace_back(nlohmann::json::object());
    for (const auto& [path, value] : leaves.items()) {
      const bool model = path.starts_with("model.") && path != "model.seed";
      const bool named = std::ranges::find(kKeyLeaves, path) != kKeyLeaves.end();
      if (model || named || path.ends_with(".frozen")) kept[path] = value;
    }
  }
  return json_text(all);
}

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

std::string_view name_of(AuditVerdict verdict) noexcept {
  return enum_word(kVerdicts, verdict);
}

AuditLevels audit_levels(const CellConfig& run) {
  AuditLevels levels;
  for (const std::string_view check : kAuditCheckNames) {
    const std::string& word = run.word("audit." + std::string(check));
    levels[std::string(check)] = word == "required" ? AuditLevel::Required
                                 : word == "warn"   ? AuditLevel::Warn
                                                    : AuditLevel::Off;
  }
  return levels;
}

const AuditResult* StructureAudit::find(std::string_view check) const {
  const auto at = std::ranges::find(checks, check, &AuditResult::name);
  return at == checks.end() ? nullptr : &*at;
}

std::vector<const AuditResult*> blocking(const StructureAudit& audit, const AuditLevels& levels) {
  std::vector<const AuditResult*> out;
  for (const AuditResult& c : audit.checks) {
    const auto level = levels.find(c.name);
    const bool required = level == levels.end() || level->second == AuditLevel::Required;
    if (required && c.verdict == AuditVerdict::Fail) out.push_back(&c);
  }
  return out;
}

std::string audits_json(const std::vector<StructureAudit>& audits) {
  Json structures = Json::array();
  for (const StructureAudit& a : audits) structures.push_back(audit_json(a));
  Json root = {{"schema", 1}};
  if (audits.size() == 1) root.update(structures[0]);
  root["structures"] = structures;
  return json_text(root, 2);
}

std::vector<StructureAudit> parse_audits(std::string_view json) {
  try {
    const Json root = parse_ordered_json(json);
    if (root.at("schema") != 1) throw Error("audit: the answer has an unknown schema");
    std::vector<StructureAudit> out;
    for (const Json& j : root.at("structures")) out.push_back(audit_of(j));
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("audit: the answer cannot be read: ") + e.what());
  }
}

std::optional<StructureAudit> cached_audit(const AnswerCache& cache,
                                           const std::vector<const CellConfig*>& cells) {
  const std::optional<std::string> text = cache.find(key_of(cells));
  if (!text) return std::nullopt;
  try {
    const std::vector<StructureAudit> kept = parse_audits(*text);
    if (kept.size() == 1) return kept.front();
  } catch (const Error&) {  // damaged: audited again
  }
  return std::nullopt;
}

void cache_audit(const AnswerCache& cache, const std::vector<const CellConfig*>& cells,
                 StructureAudit audit) {
  std::erase_if(audit.checks, [](const AuditResult& check) {
    return check.verdict == AuditVerdict::Off || check.verdict == AuditVerdict::Skipped;
  });
  cache.keep(key_of(cells), audits_json({audit}));
}

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
