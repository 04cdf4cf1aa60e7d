#include "sweeps/queue/cell_requests.hpp"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/quarantine.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// True if a claim later than `after` and before `before` exists.
bool claimed_between(const Fs& disk, const fs::path& folder, std::int64_t after,
                     std::int64_t before) {
  for (std::int64_t g = after + 1; g < before; ++g) {
    if (something_at(folder / generation_name("gen", g), disk)) return true;
  }
  return false;
}

/// Cancels a cell that nobody holds. @return nothing if somebody does.
std::optional<CancelOutcome> cancel_free(const Store& store, const CellId& id, LeaseKeeper& leases,
                                         const Clock& clock) {
  const auto lease = leases.try_acquire(store.cell_dir(id));
  if (!lease) return std::nullopt;
  if (store.completed(id)) {
    forget_stop(store, id);
    return CancelOutcome::Ended;
  }
  publish_cancelled(store, id, lease->generation(), clock);
  return CancelOutcome::Cancelled;
}

}  // namespace

bool is_cancelled(const Store& store, const CellId& id, std::optional<std::int64_t> own) {
  const auto failure = store.newest_failure(id);
  if (!failure || failure->status != CellStatus::Cancelled) return false;
  const fs::path folder = store.cell_path(id);
  const std::int64_t before = own.value_or(highest_claim(folder, store.fs()) + 1);
  return !claimed_between(store.fs(), folder, failure->generation, before);
}

bool failure_stands(const Store& store, const CellId& id) {
  const auto failure = store.newest_failure(id);
  return failure && failure->generation >= highest_claim(store.cell_path(id), store.fs());
}

std::string failure_class(const Store& store, const CellId& id) {
  const auto failure = store.newest_failure(id);
  if (!failure) return {};
  const nlohmann::json report = parse_json_or_discard(failure->json);
  const bool known = report.is_object() && report.contains("class") && report["class"].is_string();
  return known ? report["class"].get<std::string>() : std::string();
}

std::vector<std::int64_t> failure_generations(const Store& store, const Sweep& sweep) {
  std::vector<std::int64_t> out;
  for (const CellPlan& cell : sweep.cells) {
    const auto failure = store.newest_failure(cell.id);
    out.push_back(failure ? failure->generation : 0);
  }
  return out;
}

void publish_cancelled(const Store& store, const CellId& id, std::int64_t generation,
                       const Clock& clock) {
  const nlohmann::json report = {
      {"class", "cancelled"}, {"message", kCancelledMessage}, {"time", iso_utc(clock.unix_time())}};
  store.publish_failure(id, generation, CellStatus::Cancelled, json_text(report));
  forget_stop(store, id);
}

bool cell_stop_requested(const Store& store, const CellId& id) {
  return something_at(store.stop_request(id), store.fs());
}

void forget_stop(const Store& store, const CellId& id) noexcept {
  store.fs().remove(store.stop_request(id));  // else gc removes it later
}

CancelOutcome cancel_cell(const Store& store, const CellId& id, LeaseKeeper& leases,
                          const Clock& clock) {
  if (store.completed(id) || is_cancelled(store, id)) {
    forget_stop(store, id);
    return CancelOutcome::Ended;
  }
  if (const auto done = cancel_free(store, id, leases, clock)) return *done;
  make_folders(store.requests_dir(), store.fs());
  const nlohmann::json request = {
      {"schema", 1}, {"cell", id}, {"time", iso_utc(clock.unix_time())}};
  publish_once(store.stop_request(id), json_text(request) + "\n", store.fs());
  // Its owner may have let go before it could see the request.
  return cancel_free(store, id, leases, clock).value_or(CancelOutcome::Asked);
}

RetryOutcome retry_cell(const Store& store, const CellId& id, LeaseKeeper& leases) {
  if (store.completed(id)) return RetryOutcome::NotFailed;
  const auto failure = store.newest_failure(id);
  const LeaseState lease = lease_state(store.cell_path(id), store.fs());
  if (lease.kind == LeaseState::Kind::Held) return RetryOutcome::InUse;
  if (!failure || failure->generation < lease.generation) {
    forget_stop(store, id);
    return RetryOutcome::NotFailed;
  }
  const auto claim = leases.try_acquire(store.cell_dir(id));  // the claim itself is the answer
  if (!claim) return RetryOutcome::InUse;
  forget_stop(store, id);
  return RetryOutcome::Pending;
}

}  // namespace depthgrid
