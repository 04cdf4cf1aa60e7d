#include "storage/files/lease_keeper.hpp"

#include <algorithm>
#include <exception>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

/// Heartbeats per time to live: an owner may miss a few.
constexpr int kBeatsPerTtl = 9;
/// A pause between two observations counts for at most 1/kPauseParts of the time to live. So no
/// single pause of the observer deposes a living owner, which beats several times in between, and
/// an observer that polls only rarely still takes over eventually.
constexpr int kPauseParts = 3;
/// Heartbeats that a living owner never misses in a row.
constexpr int kBeatsMissed = 2;

}  // namespace

LeaseKeeper::LeaseKeeper(const LeaseOptions& options, const Fs& disk)
    : options_(options),
      disk_(disk),
      identity_(this_process()),
      beats_("leases", std::chrono::duration<double>(options.ttl).count() / kBeatsPerTtl,
             [this](double) { beat_all(); }) {}

bool LeaseKeeper::stood_still(const std::filesystem::path& cell_dir, std::int64_t generation,
                              const std::string& heartbeat) {
  const auto now = options_.now();
  const std::lock_guard lock(mutex_);
  const auto at = seen_.find(cell_dir);
  if (at == seen_.end() || at->second.generation != generation ||
      at->second.heartbeat != heartbeat) {
    seen_[cell_dir] = {generation, heartbeat, {}, now};
    return false;
  }
  Seen& seen = at->second;
  const std::chrono::steady_clock::duration ttl = options_.ttl;
  seen.watched += std::min(now - seen.last_observed, ttl / kPauseParts);
  seen.last_observed = now;
  return seen.watched >= ttl;
}

bool LeaseKeeper::suspects(const std::filesystem::path& cell_dir) {
  const std::lock_guard lock(mutex_);
  const auto at = seen_.find(cell_dir);
  return at != seen_.end() && at->second.watched > options_.ttl * kBeatsMissed / kBeatsPerTtl;
}

/// True if the generation after `last`, the highest one, may be claimed.
bool LeaseKeeper::free_after(const std::filesystem::path& cell_dir, std::int64_t last) {
  if (last == 0) return true;
  const std::string heartbeat = read_heartbeat(cell_dir, last, disk_);
  const auto owner = read_claim(cell_dir, last, disk_);
  return heartbeat_ended(heartbeat) || (owner && surely_dead(*owner)) ||
         stood_still(cell_dir, last, heartbeat);
}

bool LeaseKeeper::appears_free(const std::filesystem::path& cell_dir) {
  return free_after(cell_dir, highest_claim(cell_dir, disk_));
}

/// A claim by a living process without a heartbeat would keep the cell from everybody for ttl.
/// Nothing has been written under this generation yet, so it may be claimed again.
void LeaseKeeper::withdraw(const std::filesystem::path& cell_dir, std::int64_t generation) {
  disk_.remove(cell_dir / generation_name("gen", generation));
}

/// @throws StorageError if another user has made the last claim of a store that is not shared.
void LeaseKeeper::require_own(const std::filesystem::path& cell_dir, std::int64_t last) const {
  if (last == 0 || disk_.access() == FileAccess::Group) return;
  const std::filesystem::path claim = cell_dir / generation_name("gen", last);
  const auto [made, unknown] = disk_.facts(claim, Links::Stay);
  if (unknown != 0 || made.owner == disk_.user()) return;
  // Where a file server gives all files to one user, or root works for another one, the folder is
  // that user's as well.
  const auto folder = disk_.facts(cell_dir, Links::Follow);
  if (folder && folder.value.owner == made.owner) return;
  throw StorageError(claim, "is the claim of " + user_name(made.owner) +
                                ", and this store is not shared: share it with its group (its "
                                "owner's depthgrid run --shared-group), or have its files given to "
                                "one user (chown -R)");
}

std::optional<Lease> LeaseKeeper::try_acquire(const std::filesystem::path& cell_dir) {
  // Records before claims: the claim of a record that is seen here will be seen below, unless it is
  // lost. The other way round, two racing processes could claim two generations.
  const std::int64_t recorded = highest_record(cell_dir, disk_);
  const std::int64_t last = highest_claim(cell_dir, disk_);
  require_own(cell_dir, last);
  if (!free_after(cell_dir, last)) return std::nullopt;
  const std::int64_t next = std::max(last, recorded) + 1;
  try {
    if (!publish_once(cell_dir / generation_name("gen", next), to_json(identity_), disk_)) {
      return std::nullopt;
    }
  } catch (const StorageError&) {
    // It may have got its name before the error.
    const auto owner = read_claim(cell_dir, next, disk_);
    const bool ours = owner && owner->uuid == identity_.uuid;
    if (ours) withdraw(cell_dir, next);
    // A faster process may have removed our unfinished claim (below).
    if (!ours && highest_claim(cell_dir, disk_) > last) return std::nullopt;
    throw;
  }
  remove_scratch(cell_dir, disk_);
  auto held = std::make_shared<Lease::Held>();
  held->disk = &disk_;
  held->cell_dir = cell_dir;
  held->generation = next;
  held->last_beat = options_.now();
  try {
    held->beat(false);
  } catch (...) {
    withdraw(cell_dir, next);
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    seen_.erase(cell_dir);
    std::erase_if(held_, [](const auto& weak) { return weak.expired(); });
    held_.push_back(held);
  }
  return Lease(std::move(held));
}

void LeaseKeeper::beat_all() {
  std::vector<std::shared_ptr<Lease::Held>> alive;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& weak : held_) {
      if (auto held = weak.lock()) alive.push_back(std::move(held));
    }
  }
  for (const auto& held : alive) {
    try {
      if (held->deposed.load(std::memory_order_relaxed) || held->check()) continue;
      held->beat(false);
      held->last_beat = options_.now();
    } catch (const std::exception& e) {
      log(LogLevel::Warning, e.what());  // the next beat may succeed
      if (options_.now() - held->last_beat >= options_.ttl / 2) held->silent = true;
    }
  }
}

}  // namespace depthgrid
