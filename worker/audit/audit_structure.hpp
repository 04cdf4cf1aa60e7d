#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/config/cell_config.hpp"
#include "sweeps/plan/structure_audit.hpp"
#include "worker/audit/audit_room.hpp"

namespace depthgrid {

/// The subject of an audit, from the cell that represents the structure. Its seed is 0 whatever the
/// cell's. @param config  must outlive the subject. @param memory_bytes  memory that it may take.
AuditSubject subject_of(const CellConfig& config, double memory_bytes);

/// Counts, modes and dead parameters of a subject, for which no check is needed.
StructureAudit audit_facts(const AuditSubject& subject);

/// Runs the checks that are neither off nor in `known`.
/// @param known  results that are known already; structure and preset are taken from it.
/// @param stop   asked between checks; once it returns true, nothing is returned.
/// @return  every check, in the order of the table.
std::optional<StructureAudit> audit_structure(const AuditSubject& subject,
                                              const AuditLevels& levels, StructureAudit known,
                                              const std::function<bool()>& stop = {});

}  // namespace depthgrid
