#include "sweeps/plan/audit_cache.hpp"

#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "sweeps/plan/answer_cache.hpp"
#include "sweeps/plan/describe_cache.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// The leaves that an audit depends on, as canonical JSON.
std::string audited_leaves(const CellConfig& cell) {
  const nlohmann::json leaves = nlohmann::json::parse(cell.json());
  nlohmann::json kept = nlohmann::json::object();
  for (const auto& [path, value] : leaves.items()) {
    const bool model = path.starts_with("model.") && path != "model.seed";
    if (model || path == "data.seq_len" || path.ends_with(".frozen")) kept[path] = value;
  }
  return kept.dump();
}

bool lasts(const AuditResult& check) {
  return check.verdict != AuditVerdict::Off && check.verdict != AuditVerdict::Skipped;
}

}  // namespace

AuditCache::AuditCache(const fs::path& worker, fs::path folder)
    : folder_(std::move(folder)), build_(build_of(worker)) {}

fs::path AuditCache::entry(const CellConfig& cell) const {
  return folder_ / (hex(sha256(audited_leaves(cell) + ' ' + build_), 32) + ".json");
}

std::optional<StructureAudit> AuditCache::find(const CellConfig& cell) const {
  if (folder_.empty()) return std::nullopt;
  const std::optional<std::string> text = cached_answer(entry(cell));
  if (!text) return std::nullopt;
  try {
    const std::vector<StructureAudit> kept = parse_audits(*text);
    if (kept.size() == 1) return kept.front();
  } catch (const Error&) {  // damaged: audited again
  }
  return std::nullopt;
}

void AuditCache::keep(const CellConfig& cell, StructureAudit audit) const {
  if (folder_.empty()) return;
  std::erase_if(audit.checks, [](const AuditResult& c) { return !lasts(c); });
  cache_answer(entry(cell), audits_json({audit}));
}

fs::path default_audit_folder() {
  const fs::path costs = default_cache_folder();  // .../depthgrid/describe/HOST
  return costs.empty() ? costs : costs.parent_path().parent_path() / "audit";
}

}  // namespace depthgrid
