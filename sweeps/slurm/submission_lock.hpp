#pragma once

#include <filesystem>
#include <functional>

#include "storage/files/lease_keeper.hpp"

namespace depthgrid {

/// The lock of a store's submissions, by which two of them submit nothing twice. Waits for a
/// submission at work to end, and for the lease of one that died on another machine to lapse.
/// @param folder  submissions_folder(). @param waits  called before every pause; the first one
///                says so to the user.
/// @throws UserError (TempFail) if it is still held after 1.2 times the lease: then it is at work.
Lease submission_lock(LeaseKeeper& leases, const std::filesystem::path& folder,
                      const std::function<void(double seconds)>& waits);

}  // namespace depthgrid
