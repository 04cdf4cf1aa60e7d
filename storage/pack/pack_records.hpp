#pragma once

#include "storage/columns/column_table.hpp"
#include "storage/pack/pack_sources.hpp"

namespace depthgrid {

/// The records that belong to no single row of the packed file: attempts (by cell, then
/// generation), events (in order of time) and fused jobs (by id), of all sources one after another.
ColumnTable packed_records(const PackSources& sources, const StoredPlan& plan);

}  // namespace depthgrid
