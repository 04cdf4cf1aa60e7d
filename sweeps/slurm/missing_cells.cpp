#include "sweeps/slurm/missing_cells.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/config/start_name.hpp"
#include "storage/files/lease.hpp"
#include "sweeps/queue/cell_requests.hpp"

namespace depthgrid {
namespace {

/// What the machine did, not the cell. "source" is judged by the cell it starts from.
constexpr std::array<std::string_view, 6> kOfTheMachine = {"disk",   "infrastructure", "killed",
                                                           "source", "stopped",        "storage"};

constexpr double kPollSeconds = 0.1;  // s

}  // namespace

CellNeed need_of(const Store& store, const CellId& id, const std::set<CellId>& queued,
                 const std::set<CellId>& at_work) {
  if (store.completed(id)) return CellNeed::Done;
  if (queued.contains(id)) return CellNeed::Queued;
  if (is_cancelled(store, id)) return CellNeed::Cancelled;
  if (at_work.contains(id)) return CellNeed::Held;
  const bool again = failure_stands(store, id) && fails_again(failure_class(store, id));
  return again ? CellNeed::Failed : CellNeed::Wanted;
}

std::vector<bool> MissingCells::wanted() const {
  std::vector<bool> out;
  for (const CellNeed need : needs) out.push_back(need == CellNeed::Wanted);
  return out;
}

std::int64_t MissingCells::count(CellNeed need) const {
  return std::ranges::count(needs, need);
}

bool fails_again(const std::string& failure_class) {
  return std::ranges::count(kOfTheMachine, failure_class) == 0;
}

MissingCells missing_cells(const Sweep& sweep, const Store& store, const std::set<CellId>& queued,
                           const std::set<CellId>& at_work) {
  MissingCells out;
  std::map<CellId, std::size_t> row_of;
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    row_of[sweep.cells[row].id] = row;
    out.needs.push_back(need_of(store, sweep.cells[row].id, queued, at_work));
  }
  for (bool changed = true; changed;) {  // once for each link of the longest chain
    changed = false;
    for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
      if (out.needs[row] != CellNeed::Wanted) continue;
      const auto source = row_of.find(start_cell(sweep.cells[row].config).value_or(""));
      if (source == row_of.end()) continue;
      const CellNeed its = out.needs[source->second];
      if (its == CellNeed::Done || its == CellNeed::Wanted) continue;
      out.needs[row] = CellNeed::Waits;
      changed = true;
    }
  }
  return out;
}

HeartbeatWatch::HeartbeatWatch(const Store& store, const std::vector<CellId>& cells, double until)
    : store_(store), until_(until) {
  for (const CellId& id : cells) {
    const LeaseState lease = lease_state(store.cell_path(id), store.fs());
    if (lease.kind != LeaseState::Kind::Held) continue;
    claims_[id] = {lease.generation,
                   read_heartbeat(store.cell_path(id), lease.generation, store.fs())};
  }
}

bool HeartbeatWatch::tick(double now) {
  std::erase_if(claims_, [&](const auto& entry) {
    const auto& [id, claim] = entry;
    const std::string beat = read_heartbeat(store_.cell_path(id), claim.generation, store_.fs());
    if (beat == claim.heartbeat) return false;
    if (!heartbeat_ended(beat)) at_work_.insert(id);
    return true;
  });
  return !claims_.empty() && now < until_;
}

std::set<CellId> cells_at_work(const Store& store, const std::vector<CellId>& cells,
                               std::chrono::milliseconds ttl, const Clock& clock) {
  const double watched = std::chrono::duration<double>(ttl).count() / 3;
  HeartbeatWatch watch(store, cells, clock.now() + watched);
  while (watch.tick(clock.now())) clock.wait(kPollSeconds);
  return watch.at_work();
}

}  // namespace depthgrid
