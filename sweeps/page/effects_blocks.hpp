#pragma once

#include <string>

#include "sweeps/compare/compare.hpp"
#include "sweeps/page/page_block.hpp"

namespace depthgrid {

/// Groups beside their baseline: what is decided, in sentences; effects as a forest plot, if there
/// is an interval; the tables of effects and of what else the pairs say; and what `compare` says
/// below them.
/// @param id  of the picture: "<id>-effects". @param command  that gives the numbers.
PageBlocks effects_blocks(const Comparison& comparison, const EffectTable& effects,
                          const std::string& id, const std::string& command);

/// Lines as notes of a page.
void add_notes(PageBlocks& out, const std::string& lines);

}  // namespace depthgrid
