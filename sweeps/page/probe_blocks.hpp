#pragma once

#include "sweeps/page/page_block.hpp"
#include "sweeps/page/page_data.hpp"
#include "sweeps/page/probe_pictures.hpp"

namespace depthgrid {

/// The rows of probe_pictures() that belong to a section and of which the store has something: a
/// heading, the pictures and their numbers, what is left out. Nothing if there are none.
PageBlocks probe_blocks(const PageData& data, ProbePart part);

}  // namespace depthgrid
