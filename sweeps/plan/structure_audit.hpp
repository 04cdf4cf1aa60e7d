#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/presets.hpp"
#include "sweeps/plan/answer_cache.hpp"

namespace depthgrid {

/// Outcome of one check. An undecided check could not reach a verdict, a skipped one would not have
/// fitted in memory; neither blocks training.
enum class AuditVerdict : std::uint8_t { Pass, Fail, Undecided, Skipped, Off };

std::string_view name_of(AuditVerdict verdict) noexcept;

/// Consequence of a failed check: the leaves `audit.*`.
enum class AuditLevel : std::uint8_t { Required, Warn, Off };
using AuditLevels = std::map<std::string, AuditLevel, std::less<>>;

/// Levels of all checks, by name. @param run  leaves of class Execution.
AuditLevels audit_levels(const CellConfig& run);

/// One check of one structure.
struct AuditResult {
  std::string name;
  AuditVerdict verdict = AuditVerdict::Skipped;
  double value = 0;      // NaN: none
  double threshold = 0;  // NaN: none
  std::string note;      // what the numbers mean, or why there are none
};

/// A mode of executing the family; if it is not causal, `reason` says what looks ahead.
struct AuditMode {
  std::string name;
  bool causal = true;
  std::string reason;
};

/// The audit of one structure, from the cell that represents it.
struct StructureAudit {
  std::string structure;  // fusion key, 16 hex digits
  std::string family;
  std::string preset;                                         // empty: none
  std::vector<PresetChange> changed;                          // leaves that differ from the preset
  std::int64_t parameters = 0;                                // stored
  std::int64_t trainable = 0;                                 // without frozen groups
  std::int64_t effective = 0;                                 // of the unrolled network
  std::optional<std::int64_t> closed_form;                    // by the family's formula
  double flops_per_token = 0;                                 // forward
  std::vector<std::pair<std::string, std::int64_t>> modules;  // parameters by module
  std::vector<AuditMode> modes;
  std::vector<std::pair<std::string, std::string>> dead;  // parameter, reason
  std::vector<AuditResult> checks;                        // in the order of the axis audit_check
  double seconds = 0;                                     // duration of the audit

  /// nullptr if the check is not among the results.
  const AuditResult* find(std::string_view check) const;
};

/// Required checks that have failed: if there are any, the structure must not train.
std::vector<const AuditResult*> blocking(const StructureAudit& audit, const AuditLevels& levels);

/// By structure.
using AuditTable = std::map<std::string, StructureAudit>;

/// {"schema": 1, "structures": [...]}: the format of the worker's answer and of the cache; the
/// members of a single structure are also at the top level.
std::string audits_json(const std::vector<StructureAudit>& audits);
/// @throws Error if the text is not such an answer.
std::vector<StructureAudit> parse_audits(std::string_view json);

// A kept audit depends, for each of the cells that represent the structure, on the leaves of the
// model except its seed, the length of a window, the frozen groups, precision, optimiser and scope
// of the clip; and on the build, but not on the steps or the data of a sweep.

/// The audit of the structure of these cells; nothing if it is not in the cache.
std::optional<StructureAudit> cached_audit(const AnswerCache& cache,
                                           const std::vector<const CellConfig*>& cells);
/// Stores an audit, without checks that were off or did not fit in memory.
void cache_audit(const AnswerCache& cache, const std::vector<const CellConfig*>& cells,
                 StructureAudit audit);

/// What `depthgrid audit` prints.
std::string audit_text(const StructureAudit& audit, const AuditLevels& levels);

}  // namespace depthgrid
