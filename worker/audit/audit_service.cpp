#include "worker/audit/audit_service.hpp"

#include <nlohmann/json.hpp>

#include <ATen/Parallel.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "worker/audit/audit_structure.hpp"
#include "worker/process/memory_use.hpp"

namespace depthgrid {
namespace {

bool is_off(const AuditLevels& levels, const AuditResult& check) {
  const auto at = levels.find(check.name);
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

AuditService::AuditService(double memory_bytes, bool fresh, std::function<bool()> stop)
    : cache_(program_beside("depthgrid-worker"), cache_folder("audit")),
      memory_bytes_(memory_bytes),
      fresh_(fresh),
      stop_(std::move(stop)) {}

std::optional<StructureAudit> AuditService::audit(const std::string& structure,
                                                  const CellConfig& config,
                                                  const AuditLevels& levels) {
  StructureAudit known;
  if (const auto kept = fresh_ ? std::nullopt : cached_audit(cache_, config)) known = *kept;
  known.structure = structure;
  known.preset = config.null("model.preset") ? "" : config.word("model.preset");
  known.changed = preset_changes(config);
  worked_ = !complete(known, levels);
  const auto all = audit_structure(subject_of(config, memory_bytes_), levels, known, stop_);
  if (!all) return std::nullopt;
  StructureAudit shown = *all;
  if (worked_) {
    cache_audit(cache_, config, *all);
  } else {
    shown.seconds = known.seconds;
  }
  for (AuditResult& check : shown.checks) {
    if (is_off(levels, check)) check.verdict = AuditVerdict::Off;
  }
  return shown;
}

std::string audit(const std::string& request) {
  try {
    const auto root = nlohmann::ordered_json::parse(request);
    AuditService service(usable_memory_bytes(1) / 2, root.at("fresh"));
    std::vector<StructureAudit> audits;
    for (const auto& entry : root.at("structures")) {
      const CellConfig config = config_from_json(entry.at("config").dump());
      at::set_num_threads(static_cast<int>(config.integer_if("resources.threads").value_or(1)));
      audits.push_back(service.audit(entry.at("structure"), config, audit_levels(config)).value());
    }
    return audits_json(audits);
  } catch (const nlohmann::json::exception& e) {
    throw UserError(ExitCode::BadData, std::string("audit: cannot read the request: ") + e.what());
  }
}

}  // namespace depthgrid
