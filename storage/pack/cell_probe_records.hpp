#pragma once

#include <span>

#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// The numbers of one cell with those of its probe records (storage/cells/probe_record.hpp) put
/// over them: at a step at which a later table has a variable, its numbers alone stand. Steps and
/// labels are united, other axes get the greatest length; what nobody has is absent.
/// @param records  series over probe_step with their axes; later ones go first.
ColumnTable with_probe_records(const ColumnTable& own, std::span<const ColumnTable> records);

/// The numbers of an unfinished cell with those that only its newest snapshot has (parameters,
/// verdicts, costs so far), with all axes that these need.
/// @param snapshot  variables that are no series; what the cell has itself is not taken from it.
ColumnTable with_facts(const ColumnTable& own, const ColumnTable& snapshot);

}  // namespace depthgrid
