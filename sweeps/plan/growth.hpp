#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// What a store has of a sweep: the same account in `plan` and at the start of `run`.
struct Growth {
  std::int64_t done = 0;         // cells of the sweep with a sound result
  std::int64_t in_progress = 0;  // tried before, or training now
  std::int64_t fresh = 0;        // never tried
  std::int64_t absent = 0;       // cells of the store that the sweep lacks
  std::int64_t absent_done = 0;  // of these, with a result
};

/// @param folder  of the store; may be missing. @throws StorageError (BadData) if its plan is
///                damaged.
Growth growth_of(const Sweep& sweep, const std::filesystem::path& folder);

/// "2 cells done, 1 in progress, 4 new; 3 cells of the store are not in this file (2 with a
/// result)".
std::string growth_text(const Growth& growth);

}  // namespace depthgrid
