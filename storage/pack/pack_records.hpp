#pragma once

#include "storage/columns/column_table.hpp"
#include "storage/pack/pack_sources.hpp"

namespace depthgrid {

/// The records that belong to no single row of the packed file, concatenated over all sources:
/// attempts (by cell, then generation), events (by time) and fused jobs (by id).
ColumnTable packed_records(const PackSources& sources, const StoredPlan& plan);

}  // namespace depthgrid
