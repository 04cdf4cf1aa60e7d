#pragma once

#include <vector>

#include "core/config/cell_config.hpp"
#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// The model leaves of a cell that may differ between the cells of a structure and that this cell
/// reads, each with cells in which it has another value: the leaves of class PerCell, by the
/// schema. Left out are seeds, the start from another cell, and the share of dense first steps,
/// which an audit skips.
std::vector<AuditedLeaf> audited_leaves(const CellConfig& config);

}  // namespace depthgrid
