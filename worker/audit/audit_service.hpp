#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/config/cell_config.hpp"
#include "sweeps/plan/structure_audit.hpp"
#include "worker/audit/audit_models.hpp"

namespace depthgrid {

/// The subject of an audit, from the cells that represent the structure (audited_cells()). Its seed
/// is 0 whatever the cells'. @param configs  at least one; must outlive the subject.
/// @param memory_bytes  memory that it may take.
AuditSubject subject_of(const std::vector<const CellConfig*>& configs, double memory_bytes);

/// Runs the checks that are neither off nor in `known`.
/// @param known  results that are known already; structure and preset are taken from it.
/// @param stop   asked before each check that is run; once it returns true, nothing is returned.
/// @return  every check, in the order of the table.
std::optional<StructureAudit> audit_structure(const AuditSubject& subject,
                                              const AuditLevels& levels, StructureAudit known,
                                              const std::function<bool()>& stop = {});

/// Audits structures on this machine, using cached results where there are any.
class AuditService {
 public:
  /// @param fresh  ignore cached results. @param memory_bytes  memory that an audit may take.
  /// @param stop   asked before each check that is run.
  AuditService(double memory_bytes, bool fresh, std::function<bool()> stop = {});

  /// @param configs  of the cells that represent the structure, audited_cells().
  /// @param levels   checks that are off are not run, and reported as off.
  /// @return nothing if `stop` returned true.
  std::optional<StructureAudit> audit(const std::string& structure,
                                      const std::vector<const CellConfig*>& configs,
                                      const AuditLevels& levels);

  /// True if the last audit() ran at least one check.
  bool worked() const noexcept { return worked_; }

 private:
  AnswerCache cache_;
  double memory_bytes_;
  bool fresh_;
  bool worked_ = false;
  std::function<bool()> stop_;
};

/// Answers a command of `depthgrid audit`: JSON in, JSON out (docs/cli.md).
/// @param request  {"schema": 1, "fresh": false, "structures": [{"structure": key, "config": {…},
///                 "others": [{…}]}]}: the first of the cells that represent a structure, and the
///                 others, if there are any;
///                 levels are the leaves audit.* of each configuration.
/// @throws UserError if the request or a configuration cannot be read.
std::string audit(const std::string& request);

}  // namespace depthgrid
