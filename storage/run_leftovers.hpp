#pragma once

#include "storage/leftovers.hpp"

namespace depthgrid {

/// What runs that have ended have left in a store, and nobody will read again:
///   - progress channels live/<run> of runs that have surely died on this machine, or that nobody
///     has written to for a day by the clock of the store's own filesystem;
///   - current.json and those of launches (launches/<id>) that nobody holds;
///   - requests to stop cells that have a result or are cancelled.
/// Folders follow their files in no order: remove_leftovers() takes them from the back.
Leftovers run_leftovers(const Store& store);

}  // namespace depthgrid
