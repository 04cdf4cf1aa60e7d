#pragma once

#include <string>
#include <vector>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// The cells that represent a structure in its audit: `first`, and cells in which the model leaves
/// that may differ between cells (class PerCell, except seeds and starts) have their smallest,
/// middle and largest value, or each of three words. As few cells as possible, at most six.
/// @param cells  of the sweep; `first` is one of them. @return pointers into `cells`, first one
/// first
std::vector<const CellPlan*> audited_cells(const std::vector<CellPlan>& cells,
                                           const CellPlan& first);

/// The command of `depthgrid audit`: {"schema": 1, "fresh": false, "structures": [{"structure",
/// "config", "others"}]}; "others": configurations of audited_cells() besides the first.
std::string audit_request(const std::vector<CellPlan>& cells, bool fresh);

}  // namespace depthgrid
