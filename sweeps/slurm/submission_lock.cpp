#include "sweeps/slurm/submission_lock.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/files/lease.hpp"

namespace depthgrid {
namespace {

/// Looks at a heartbeat within the lease; more would not tell a dead owner sooner.
constexpr int kLooks = 45;
/// A dead owner's lease lapses after one; what is still held then has a living owner.
constexpr double kLeases = 1.2;

}  // namespace

Lease submission_lock(LeaseKeeper& leases, const std::filesystem::path& folder,
                      const std::function<void(double seconds)>& waits) {
  const double limit = kLeases * std::chrono::duration<double>(leases.ttl()).count();
  const auto begun = leases.now();
  while (true) {
    if (auto lock = leases.try_acquire(folder)) return std::move(*lock);
    const double waited = std::chrono::duration<double>(leases.now() - begun).count();
    if (waited > limit) {
      const ProcessIdentity owner = lease_state(folder).owner;
      throw UserError(
          ExitCode::TempFail,
          fmt::format("{}: another submission is at work here, process {} of {}, for more than "
                      "{:.0f} s; wait for it, then look at depthgrid status",
                      folder.string(), owner.pid, owner.host.empty() ? "?" : owner.host, waited));
    }
    waits(limit - waited);
    std::this_thread::sleep_for(leases.ttl() / kLooks);
  }
}

}  // namespace depthgrid
