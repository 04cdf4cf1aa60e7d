#pragma once

#include <vector>

#include "core/config/sweep.hpp"
#include "distributed/collective.hpp"
#include "storage/cells/cell_file.hpp"
#include "sweeps/plan/structure_audit.hpp"
#include "worker/process/progress.hpp"

namespace depthgrid {

/// The audits of the structures that are about to train, without which training does not start.
struct AuditPermit {
  AuditLevels levels;
  AuditTable audits = {};  // by structure
  bool stopped = false;
};

/// Audits the structures of the wanted cells, each on one rank, and shares the results. Collective
/// over `world`.
/// @param wanted        (cells) of the first rank; other ranks may pass an empty one.
/// @param memory_bytes  memory that an audit may take on this rank.
/// @throws UserError (Failed) on every rank if a required check has failed.
AuditPermit pass_audits(Collective& world, const Sweep& sweep, const std::vector<bool>& wanted,
                        double memory_bytes, Progress& progress);

/// The variables audit_* of a cell of this structure.
void set_audit(CellFacts& facts, const AuditPermit& permit, const std::string& structure);

}  // namespace depthgrid
