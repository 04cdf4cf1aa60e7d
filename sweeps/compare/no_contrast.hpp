#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "sweeps/compare/compare.hpp"

namespace depthgrid {

/// Why a comparison has no contrast with a p: what is there, and what to do.
struct NoContrast {
  std::string sentence;
  ExitCode code;  // Unfinished while cells are to be trained, else Partial
};

/// Nothing if some contrast has a p.
/// @param rows  that took part in the comparison. @param filter  that has chosen them, if one has.
std::optional<NoContrast> no_contrast(const Listing& listing, const std::vector<std::size_t>& rows,
                                      const Comparison& comparison, const std::string& filter = {});

}  // namespace depthgrid
