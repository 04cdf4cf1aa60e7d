#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "core/base/clock.hpp"
#include "storage/files/lease_keeper.hpp"

namespace depthgrid {

/// The lock of a store's submissions, by which two of them submit nothing twice. It waits for a
/// submission at work to end, and for the lease of one that died on another machine to lapse.
class SubmissionLock {
 public:
  /// @param folder  submissions_folder(). @param now  time of the first poll.
  SubmissionLock(LeaseKeeper& leases, std::filesystem::path folder, double now);

  /// @return nothing while another submission has it.
  /// @throws UserError (TempFail) if it is still held after 1.2 times the lease: then it is at
  ///         work.
  std::optional<Lease> tick(double now);

  /// s for which it waits yet at most, at the last tick; and until the next one.
  double left() const noexcept { return end_ - last_; }
  double pause() const;

 private:
  LeaseKeeper& leases_;
  std::filesystem::path folder_;
  double begun_, last_, end_;
};

/// The same, waited for. @param waits  called before every pause; the first one says so to the
/// user. @throws as SubmissionLock::tick()
Lease submission_lock(LeaseKeeper& leases, const std::filesystem::path& folder,
                      const std::function<void(double seconds)>& waits,
                      const Clock& clock = real_clock());

}  // namespace depthgrid
