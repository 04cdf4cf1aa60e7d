#include "worker/audit/audit_service.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "core/base/subprocess.hpp"
#include "core/train/train_options.hpp"
#include "models/closed_form.hpp"
#include "models/cost_model.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"
#include "worker/audit/audited_leaves.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/memory_use.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kRows = 8;  // sequences over which the cost of generated weights is spread

/// "layers.3.attn.qkv.weight" -> "layers.*.attn"; "modulation.q.w1" -> "modulation.q".
std::string module_of(const std::string& parameter) {
  std::vector<std::string> parts;
  std::istringstream names(parameter);
  std::size_t depth = 2;
  for (std::string part; std::getline(names, part, '.');) {
    const bool number = part.find_first_not_of("0123456789") == std::string::npos;
    if (number) depth = 3;
    parts.push_back(number ? "*" : part);
  }
  parts.resize(std::clamp<std::size_t>(parts.size() - 1, 1, depth));
  return fmt::format("{}", fmt::join(parts, "."));
}

/// Counts, modes and dead parameters of a subject, for which no check is needed.
StructureAudit facts_of(const AuditSubject& subject, const AuditModels& models) {
  const ModelOptions& o = models.options();
  const ParameterLayout layout = layout_of(subject, o);
  StructureAudit audit;
  audit.family = o.family;
  audit.parameters = layout.size();
  for (const ParameterSlot& slot : layout.slots()) {
    const bool frozen = subject.frozen[static_cast<std::size_t>(slot.spec.group)];
    if (!frozen && !slot.spec.average) audit.trainable += slot.count;
    const std::string module = module_of(slot.spec.name);
    const auto at =
        std::ranges::find(audit.modules, module, &std::pair<std::string, std::int64_t>::first);
    if (at == audit.modules.end()) {
      audit.modules.emplace_back(module, slot.count);
    } else {
      at->second += slot.count;
    }
  }
  audit.effective = effective_parameters(o, layout);
  audit.closed_form = closed_form_parameters(o);
  audit.flops_per_token = flops_per_token(o, kRows, subject.tokens);
  // The family of a twin declares the same modes and takes little memory.
  const AuditModel twin = models.twin(kDeepTwin, {0});
  for (const AuditedMode& c : audited_modes(twin.model().family())) {
    audit.modes.push_back({c.name, c.causal, c.reason});
  }
  for (const DeadParameter& d : twin.model().dead_parameters()) {
    audit.dead.emplace_back(d.name, d.reason);
  }
  return audit;
}

/// A check that runs out of memory is skipped, like that of a structure known to be too large:
/// training will show whether the structure can train.
AuditResult made(const AuditCheckRow& row, AuditModels& models) {
  try {
    return row.run(models);
  } catch (const std::exception& e) {
    if (!is_out_of_memory(e)) throw;
    return {"", AuditVerdict::Skipped, kNaN, kNaN, "there is not enough memory for it"};
  }
}

bool is_off(const AuditLevels& levels, std::string_view check) {
  const auto at = levels.find(check);
  return at != levels.end() && at->second == AuditLevel::Off;
}

/// Whether every wanted check has a lasting result.
bool complete(const StructureAudit& audit, const AuditLevels& levels) {
  for (const auto& [name, level] : levels) {
    if (level != AuditLevel::Off && audit.find(name) == nullptr) return false;
  }
  return true;
}

}  // namespace

AuditSubject subject_of(const std::vector<const CellConfig*>& configs, double memory_bytes) {
  const CellConfig& first = *configs.at(0);
  AuditSubject subject;
  subject.options = [configs](const std::vector<std::size_t>& cells) {
    std::vector<const CellConfig*> chosen;
    for (const std::size_t cell : cells) {
      chosen.push_back(configs[cell < configs.size() ? cell : 0]);
    }
    return model_options(chosen);
  };
  subject.variety = configs.size();
  subject.tokens = first.integer("data.seq_len");
  const TrainOptions train = train_options({&first});
  subject.frozen = train.frozen;
  subject.mixed = train.precision == Precision::Bf16;
  subject.optimizer = train.optimizer;
  subject.clip_scope = train.clip_scope;
  subject.leaves = audited_leaves(first);
  subject.memory_bytes = memory_bytes;
  return subject;
}

std::optional<StructureAudit> audit_structure(const AuditSubject& subject,
                                              const AuditLevels& levels, StructureAudit known,
                                              const std::function<bool()>& stop) {
  const Stopwatch clock;
  AuditModels models(subject);
  StructureAudit audit = facts_of(subject, models);
  audit.structure = known.structure;
  audit.preset = known.preset;
  audit.changed = known.changed;
  for (const AuditCheckRow& row : audit_checks()) {
    AuditResult result{"", AuditVerdict::Off, kNaN, kNaN, ""};
    if (const AuditResult* before = known.find(row.name)) {
      result = *before;
    } else if (!is_off(levels, row.name)) {
      if (stop && stop()) return std::nullopt;
      result = made(row, models);
    }
    result.name = row.name;
    audit.checks.push_back(std::move(result));
  }
  audit.seconds = known.seconds + clock.seconds();
  return audit;
}

AuditService::AuditService(double memory_bytes, bool fresh, std::function<bool()> stop)
    : cache_(program_beside("depthgrid-worker"), cache_folder("audit")),
      memory_bytes_(memory_bytes),
      fresh_(fresh),
      stop_(std::move(stop)) {}

std::optional<StructureAudit> AuditService::audit(const std::string& structure,
                                                  const std::vector<const CellConfig*>& configs,
                                                  const AuditLevels& levels) {
  const CellConfig& config = *configs.at(0);
  StructureAudit known;
  if (const auto kept = fresh_ ? std::nullopt : cached_audit(cache_, configs)) known = *kept;
  known.structure = structure;
  known.preset = config.null("model.preset") ? "" : config.word("model.preset");
  known.changed = preset_changes(config);
  worked_ = !complete(known, levels);
  const auto all = audit_structure(subject_of(configs, memory_bytes_), levels, known, stop_);
  if (!all) return std::nullopt;
  StructureAudit shown = *all;
  if (worked_) {
    cache_audit(cache_, configs, *all);
  } else {
    shown.seconds = known.seconds;
  }
  for (AuditResult& check : shown.checks) {
    if (is_off(levels, check.name)) check.verdict = AuditVerdict::Off;
  }
  return shown;
}

std::string audit(const std::string& request) {
  try {
    const auto root = parse_ordered_json(request);
    AuditService service(usable_memory_bytes(1) / 2, root.at("fresh"));
    std::vector<StructureAudit> audits;
    for (const auto& entry : root.at("structures")) {
      std::vector<CellConfig> cells = {config_from_json(json_text(entry.at("config")))};
      if (entry.contains("others")) {
        for (const auto& other : entry.at("others")) {
          cells.push_back(config_from_json(json_text(other)));
        }
      }
      std::vector<const CellConfig*> configs;
      for (const CellConfig& cell : cells) configs.push_back(&cell);
      use_threads(cells.front());
      audits.push_back(
          service.audit(entry.at("structure"), configs, audit_levels(cells.front())).value());
    }
    return audits_json(audits);
  } catch (const nlohmann::json::exception& e) {
    throw UserError(ExitCode::BadData, std::string("audit: cannot read the request: ") + e.what());
  }
}

}  // namespace depthgrid
