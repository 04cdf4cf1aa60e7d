#pragma once

#include <vector>

#include "core/config/sweep.hpp"
#include "distributed/collective.hpp"
#include "storage/cells/cell_facts.hpp"
#include "sweeps/plan/structure_audit.hpp"
#include "worker/process/progress.hpp"

namespace depthgrid {

/// What stands before training: the audits of the structures that are about to train.
struct AuditPermit {
  AuditLevels levels;
  AuditTable audits = {};  // by structure
  bool stopped = false;
};

/// Audits the structures of the wanted cells, each on one rank, and shares what came of it.
/// Collective over `world`.
/// @param wanted        one a cell; the first rank's counts, other ranks may leave it empty.
/// @param memory_bytes  that an audit may take on this rank.
/// @throws UserError (Failed) on every rank if a required check has failed.
AuditPermit pass_audits(Collective& world, const Sweep& sweep, const std::vector<bool>& wanted,
                        double memory_bytes, Progress& progress);

/// The variables audit_* of a cell of this structure.
void set_audit(CellFacts& facts, const AuditPermit& permit, const std::string& structure);

}  // namespace depthgrid
