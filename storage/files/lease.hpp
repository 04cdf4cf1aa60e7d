#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "storage/files/process_identity.hpp"

namespace depthgrid {

/// One process's claim of one cell; made by LeaseKeeper, whose thread keeps it alive.
///
/// The lease saves double work; correctness does not depend on it: every file of an attempt carries
/// the generation, and a result is published once. So an owner that finds itself deposed only
/// stops. Source: a generation log observed on the observer's own clock.
class Lease {
 public:
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  /// Releases.
  ~Lease();

  /// False once it was moved from.
  bool valid() const { return held_ != nullptr; }
  std::int64_t generation() const { return held_->generation; }
  const std::filesystem::path& cell_dir() const { return held_->cell_dir; }

  /// True once a higher generation was seen: somebody else has the cell.
  bool deposed() const { return held_->deposed.load(std::memory_order_relaxed); }

  /// Looks now instead of at the next heartbeat; for the moment before a publication.
  bool check_deposed();

  /// Marks the heartbeat as ended, so that others may take the cell at once; the claim stays.
  void release() noexcept;

 private:
  friend class LeaseKeeper;
  struct Held {
    std::filesystem::path cell_dir;
    std::int64_t generation = 0;
    std::atomic<bool> deposed{false};
    std::mutex mutex;  // of the heartbeat file and of what follows
    std::int64_t beats = 0;
    bool ended = false;
    void beat(bool last);
    bool look();
  };
  explicit Lease(std::shared_ptr<Held> held) : held_(std::move(held)) {}

  std::shared_ptr<Held> held_;
};

/// Who has a cell, for listings. Without having watched the heartbeat, an owner on another machine
/// counts as holding.
struct LeaseState {
  enum class Kind : std::uint8_t { Free, Held, Dead } kind = Kind::Free;
  std::int64_t generation = 0;  // highest claimed; 0 = never claimed
  ProcessIdentity owner;        // of that generation; empty when the claim is unreadable
};

LeaseState lease_state(const std::filesystem::path& cell_dir);

}  // namespace depthgrid
