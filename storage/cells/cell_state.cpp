#include "storage/cells/cell_state.hpp"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/lease.hpp"

namespace depthgrid {

std::string failure_reason(const StoredFailure& failure) {
  const nlohmann::json report = parse_json_or_discard(failure.json);
  std::string out;
  if (report.is_object()) {
    for (const char* key : {"problem", "message", "error", "reason"}) {
      const auto at = report.find(key);
      if (at != report.end() && at->is_string()) {
        out = at->get<std::string>();
        break;
      }
    }
  }
  if (out.empty()) out = failure.json;
  std::ranges::replace(out, '\n', ' ');
  return out;
}

namespace {

CellState unfinished_state(const Store& store, const CellId& id) {
  CellState out;
  const LeaseState lease = lease_state(store.cell_path(id), store.fs());
  out.generation = lease.generation;
  const std::optional<StoredFailure> failure = store.newest_failure(id);
  if (failure) out.problem = failure_reason(*failure);
  if (lease.kind == LeaseState::Kind::Held) {
    out.status = CellStatus::Running;
  } else if (failure && failure->generation >= lease.generation) {
    out.status = failure->status;
  }
  return out;
}

}  // namespace

CellOutcome cell_outcome(const Store& store, const CellId& id) {
  const std::filesystem::path folder = store.cell_path(id);
  const std::filesystem::path result = folder / "result.h5";
  CellOutcome out{.seal = peek_seal(result, store.fs()), .state = {}, .damage = {}};
  if (out.seal || means_absent(store.fs().facts(folder, Links::Follow).error)) return out;
  out.state = unfinished_state(store, id);
  // Owners publish before they release: a claim that has just ended may have left a result.
  if (out.state.status == CellStatus::Pending && out.state.generation > 0) {
    out.seal = peek_seal(result, store.fs());
  }
  if (out.seal) out.state = {};
  if (!out.seal) out.damage = store.result(id).problem;
  return out;
}

CellOutcome unfinished_outcome(const Store& store, const CellId& id) {
  return {.seal = {}, .state = unfinished_state(store, id), .damage = {}};
}

}  // namespace depthgrid
