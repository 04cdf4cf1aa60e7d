#include "core/config/sweep/cell_counter.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/digest.hpp"
#include "core/config/identity.hpp"

namespace depthgrid {
namespace {

std::uint64_t first_bytes(const Sha256& digest) {
  std::uint64_t out = 0;
  static_assert(sizeof(digest) >= sizeof(out));
  std::memcpy(&out, digest.data(), sizeof(out));
  return out;
}

}  // namespace

CellCounter::CellCounter(const SweepDocument& document, Grid& grid, ValuePool& pool,
                         Diagnostics& diagnostics, std::uint64_t limit)
    : document_(document),
      grid_(grid),
      pool_(pool),
      diagnostics_(diagnostics),
      limit_(limit),
      scratch_(grid.base()) {}

bool CellCounter::take(const Arm& arm, const Slots& resolved) {
  if (diagnostics_.failed()) return true;  // only search for further problems
  starts_ = starts_ || !resolved.null(leaf_rows().init_from);
  if (starts_) return false;
  found_baseline_ = found_baseline_ || grid_.is_baseline(arm, resolved);
  structures_.insert(structure_key(resolved));
  scratch_ = resolved;
  for (const std::int64_t seed : document_.seeds) {
    if (ids_.size() >= limit_) {
      too_many_ = true;
      return false;
    }
    set_seed(scratch_, seed, pool_);
    ids_.push_back(first_bytes(sha256(identity_text(scratch_))));
  }
  return true;
}

bool CellCounter::conclusive() {
  std::ranges::sort(ids_);
  return !starts_ && std::ranges::adjacent_find(ids_) == ids_.end();
}

}  // namespace depthgrid
