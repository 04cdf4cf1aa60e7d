#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/cells/cell_history.hpp"

namespace depthgrid {

/// Whether a cell has died too often: attempts without an end that got no further than those before
/// them.
/// @param failed_before  generation of its newest failure, 0 if there is none: attempts up to it
///                       were reported and no longer count.
/// @param budget         leaf retry.crash: number of such deaths allowed.
/// @return  the text of the report; nothing while the cell may be tried again.
std::optional<std::string> died_too_often(const CellHistory& history, std::int64_t failed_before,
                                          std::int64_t budget);

}  // namespace depthgrid
