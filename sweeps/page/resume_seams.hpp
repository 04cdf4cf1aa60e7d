#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/page/page_block.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Where a cell went on after an interruption.
struct LossSeam {
  std::size_t row = 0;       // of the listing
  std::int64_t step = 0;     // done before; the next one is the first of the new attempt
  double difference = kNaN;  // loss of that step less that of the one before; NaN: not known
};

/// Those of cells with more than one attempt, in the order of the rows: what their results record,
/// or their journals. What cannot be read has none; its damage is named where the cell is.
std::vector<LossSeam> resume_seams(const Listing& listing, const std::vector<std::size_t>& rows);

/// How many there are, the largest, and a table of them; of very many, of the largest. Empty if
/// there are none. @param listing  of which the cells' names are.
PageBlocks seam_blocks(const Listing& listing, std::vector<LossSeam> seams);

}  // namespace depthgrid
