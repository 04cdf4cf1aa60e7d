#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/real_fs.hpp"
#include "storage/files/process_identity.hpp"

namespace depthgrid {

/// One process's claim to one cell; made by LeaseKeeper, whose thread keeps it alive.
///
/// The lease avoids duplicate work; correctness does not depend on it: every file of an attempt
/// carries the generation, and a result is published once. So a deposed owner simply stops.
/// Protocol: a log of generations; liveness is judged on the observer's own clock.
class Lease {
 public:
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Calls release().
  ~Lease();

  /// False if moved from.
  bool valid() const { return held_ != nullptr; }
  std::int64_t generation() const { return held_->generation; }

  /// True once a higher generation was seen: another process has the cell.
  bool deposed() const { return held_->deposed.load(std::memory_order_relaxed); }

  /// True once its heartbeat could not be written for half its time to live: others may take the
  /// cell soon. Short disturbances of a filesystem pass unnoticed.
  bool silent() const { return held_->silent.load(std::memory_order_relaxed); }

  /// Checks now instead of at the next heartbeat; for use just before publishing.
  bool check_deposed();

  /// Marks the heartbeat as ended, so that others may take the cell at once; the claim file stays.
  void release() noexcept;

 private:
  friend class LeaseKeeper;
  struct Held {
    const Fs* disk = nullptr;
    std::filesystem::path cell_dir;
    std::int64_t generation = 0;
    std::atomic<bool> deposed{false}, silent{false};
    std::mutex mutex;  // of the heartbeat file and of what follows
    std::int64_t beats = 0;
    bool ended = false;
    std::chrono::steady_clock::time_point last_beat;  // of the keeper's thread alone, once given
    void beat(bool last);
    bool check();
  };
  explicit Lease(std::shared_ptr<Held> held) : held_(std::move(held)) {}

  std::shared_ptr<Held> held_;
};

/// Who holds a cell, for listings. An owner on another machine counts as alive, as its heartbeat
/// has not been observed over time.
struct LeaseState {
  enum class Kind : std::uint8_t { Free, Held, Dead } kind = Kind::Free;
  std::int64_t generation = 0;  // highest claimed; 0 = never claimed
  ProcessIdentity owner;        // of that generation; empty when the claim is unreadable
};

LeaseState lease_state(const std::filesystem::path& cell_dir, const Fs& disk = real_fs());

/// Highest g of the files `gen-<g>` in the folder; 0 without any.
std::int64_t highest_claim(const std::filesystem::path& cell_dir, const Fs& disk = real_fs());

/// Likewise of heartbeats and journals. They are written after their claim; where it has been lost,
/// their names stay used.
std::int64_t highest_record(const std::filesystem::path& cell_dir, const Fs& disk = real_fs());

/// Owner of `gen-<generation>`; nothing if it cannot be read.
std::optional<ProcessIdentity> read_claim(const std::filesystem::path& cell_dir,
                                          std::int64_t generation, const Fs& disk = real_fs());

/// Content of `hb-<generation>`; "" if unreadable. Observers compare it and search for the end
/// mark.
std::string read_heartbeat(const std::filesystem::path& cell_dir, std::int64_t generation,
                           const Fs& disk = real_fs());
bool heartbeat_ended(const std::string& heartbeat);

}  // namespace depthgrid
