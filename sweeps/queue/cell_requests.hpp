#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/clock.hpp"
#include "core/config/sweep.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/store.hpp"

namespace depthgrid {

// What a user asks of single cells, by way of the store alone.
//
// A cancelled cell has a failure report of status Cancelled and no later claim: no run takes it.
// `retry` claims it and lets go at once: a cell whose newest claim is later than its newest report
// is pending, whatever the report says. A cell that is held is asked by a file, orders/stop-<id>,
// to which its owner, or the next one, replies with the report.

/// Reason in the report of a cancelled cell.
inline constexpr std::string_view kCancelledMessage =
    "cancelled by a user; depthgrid retry makes it pending again";

/// True while a cell is cancelled. A failed cell is not: the next run tries it again.
/// @param own  generation of the caller's own claim, which does not count, nor do later ones.
bool is_cancelled(const Store& store, const CellId& id, std::optional<std::int64_t> own = {});

/// True while the newest thing known of a cell is that it has failed: there is no later claim, such
/// as that of `retry`. Of a cancelled cell as well.
bool failure_stands(const Store& store, const CellId& id);

/// The word "class" in the newest failure report of a cell: "crash", "oom", "cancelled", …; empty
/// if there is none.
std::string failure_class(const Store& store, const CellId& id);

/// Generation of the newest failure report of each cell of a sweep; 0 = none.
std::vector<std::int64_t> failure_generations(const Store& store, const Sweep& sweep);

/// Publishes that a cell is cancelled, and removes the request. The caller holds this generation.
/// @throws StorageError
void publish_cancelled(const Store& store, const CellId& id, std::int64_t generation,
                       const Clock& clock = real_clock());

/// Whether somebody has asked that the cell stop. One stat().
bool cell_stop_requested(const Store& store, const CellId& id);
/// Removes that request, if there is one.
void forget_stop(const Store& store, const CellId& id) noexcept;

enum class CancelOutcome : std::uint8_t {
  Cancelled,  // nobody had it
  Asked,      // its owner ends it within seconds, or at its next claim
  Ended       // it has a result, or was cancelled already
};
CancelOutcome cancel_cell(const Store& store, const CellId& id, LeaseKeeper& leases,
                          const Clock& clock = real_clock());

enum class RetryOutcome : std::uint8_t {
  Pending,    // the next run takes it
  NotFailed,  // it has a result, or is pending anyway
  InUse       // a process has it
};
/// Makes a cell that has failed or was cancelled pending. A request to stop it goes, too.
RetryOutcome retry_cell(const Store& store, const CellId& id, LeaseKeeper& leases);

}  // namespace depthgrid
