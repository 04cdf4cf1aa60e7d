#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "core/base/ticker.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {

struct LeaseOptions {
  /// A lease is dead after this long without a heartbeat, on the observer's clock.
  std::chrono::milliseconds ttl = std::chrono::seconds(90);
  /// The monotonic clock of this observer.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Takes leases for this process and keeps them alive; one per process, thread-safe.
///
/// Its thread beats every ttl/9 for all leases held and checks for higher generations. Heartbeats
/// of other owners are timed on its own monotonic clock; clocks of two hosts are never compared.
/// Errors of the filesystem are ridden out for ttl/2; then Lease::silent() asks the owner to stop.
class LeaseKeeper {
 public:
  /// @param disk  outlives it, and its leases.
  explicit LeaseKeeper(const LeaseOptions& options = {}, const Fs& disk = real_fs());
  /// Leases still held are no longer kept alive.
  ~LeaseKeeper() = default;
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// Claims the cell if it is free, released, its owner surely dead (same machine), or its owner's
  /// heartbeat unchanged for ttl over the calls made so far. The time between two calls counts for
  /// at most ttl/3: in a longer pause this process or the filesystem may itself have stalled, and
  /// the owner with it. Never waits: call again later.
  /// @return  nothing if another process has the cell or was faster.
  /// @throws  StorageError if the folder cannot be written, or the last claim is another user's and
  ///          the store is not shared (Fs::access()); nothing is claimed then.
  std::optional<Lease> try_acquire(const std::filesystem::path& cell_dir);

  /// Whether try_acquire() would claim the cell now. Counts as an observation of its owner's
  /// heartbeat.
  bool appears_free(const std::filesystem::path& cell_dir);

  /// Whether the heartbeat of the cell's owner has stood still for so long, over the observations
  /// made so far, that its owner may be dead: longer than a living one ever lets it. Not an
  /// observation itself.
  bool suspects(const std::filesystem::path& cell_dir);

  /// One heartbeat of every lease that is held. The thread makes one every ttl/9.
  void beat_all();

  /// Time on this observer's clock.
  std::chrono::steady_clock::time_point now() const { return options_.now(); }
  std::chrono::milliseconds ttl() const { return options_.ttl; }
  /// By which it claims: that of the store.
  const Fs& fs() const { return disk_; }

 private:
  struct Seen {
    std::int64_t generation = 0;
    std::string heartbeat;
    std::chrono::steady_clock::duration watched{};  // with this heartbeat
    std::chrono::steady_clock::time_point last_observed;
  };
  bool stood_still(const std::filesystem::path& cell_dir, std::int64_t generation,
                   const std::string& heartbeat);
  bool free_after(const std::filesystem::path& cell_dir, std::int64_t last);
  void require_own(const std::filesystem::path& cell_dir, std::int64_t last) const;
  void withdraw(const std::filesystem::path& cell_dir, std::int64_t generation);

  LeaseOptions options_;
  const Fs& disk_;
  ProcessIdentity identity_;
  std::mutex mutex_;
  std::map<std::filesystem::path, Seen> seen_;
  std::vector<std::weak_ptr<Lease::Held>> held_;
  Ticker beats_;
};

}  // namespace depthgrid
