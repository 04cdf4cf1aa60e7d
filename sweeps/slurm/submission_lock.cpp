#include "sweeps/slurm/submission_lock.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/files/lease.hpp"

namespace depthgrid {
namespace {

/// Polls of a heartbeat within the lease; more would not find a dead owner sooner.
constexpr int kPollsOfLease = 45;
/// A dead owner's lease lapses after one; what is still held then has a living owner.
constexpr double kLeases = 1.2;

double lease_seconds(const LeaseKeeper& leases) {
  return std::chrono::duration<double>(leases.ttl()).count();
}

}  // namespace

SubmissionLock::SubmissionLock(LeaseKeeper& leases, std::filesystem::path folder, double now)
    : leases_(leases),
      folder_(std::move(folder)),
      begun_(now),
      last_(now),
      end_(now + kLeases * lease_seconds(leases)) {}

std::optional<Lease> SubmissionLock::tick(double now) {
  last_ = now;
  auto lock = leases_.try_acquire(folder_);
  if (lock || now <= end_) return lock;
  const ProcessIdentity owner = lease_state(folder_).owner;
  throw UserError(
      ExitCode::TempFail,
      fmt::format("{}: another submission is at work here, process {} of {}, for more than "
                  "{:.0f} s; wait for it, then see depthgrid status",
                  folder_.string(), owner.pid, owner.host.empty() ? "?" : owner.host,
                  now - begun_));
}

double SubmissionLock::pause() const {
  return lease_seconds(leases_) / kPollsOfLease;
}

Lease submission_lock(LeaseKeeper& leases, const std::filesystem::path& folder,
                      const std::function<void(double seconds)>& waits, const Clock& clock) {
  SubmissionLock lock(leases, folder, clock.now());
  while (true) {
    if (auto taken = lock.tick(clock.now())) return std::move(*taken);
    waits(lock.left());
    clock.wait(lock.pause());
  }
}

}  // namespace depthgrid
