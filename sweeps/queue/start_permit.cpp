#include "sweeps/queue/start_permit.hpp"

#include <fmt/format.h>

#include "core/config/start_name.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "sweeps/queue/cell_requests.hpp"

namespace depthgrid {
namespace {

/// Empty if the result is that of a completed cell.
std::string bad_end(const std::filesystem::path& result, const Fs& disk) {
  const std::int64_t status = TableReader(result, disk).read("cell_status").integer(0);
  if (status == static_cast<std::int64_t>(CellStatus::Completed)) return {};
  return std::string(name_of(static_cast<CellStatus>(status)));
}

}  // namespace

StartPermit::StartPermit(const Sweep& sweep, const Store& store,
                         const std::vector<std::int64_t>& failed_before)
    : sweep_(sweep), store_(store), failed_before_(failed_before) {
  for (const SweepStart& start : sweep.starts) rows_.emplace(start.source, 0);
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const auto source = rows_.find(sweep.cells[row].id);
    if (source != rows_.end()) source->second = row;
  }
}

StartPermit::Answer StartPermit::ask(std::size_t row, std::string& why) {
  const auto id = start_cell(sweep_.cells[row].config);
  if (!id) return Answer::Open;
  const std::size_t source = rows_.at(*id);
  const std::string& alias = sweep_.cells[source].alias;
  if (store_.completed(*id)) {
    auto known = ended_badly_.find(*id);
    if (known == ended_badly_.end()) {
      known = ended_badly_.emplace(*id, bad_end(store_.cell_path(*id) / "result.h5", store_.fs()))
                  .first;
    }
    std::string lacks = known->second;
    // A cell that has a checkpoint of its own has begun, and no longer needs its source.
    if (lacks.empty() && list_checkpoints(store_.cell_path(*id), store_.fs()).empty() &&
        list_checkpoints(store_.cell_path(sweep_.cells[row].id), store_.fs()).empty()) {
      lacks = "no checkpoint any more";
    }
    if (lacks.empty()) return Answer::Open;
    why = fmt::format("starts from {} ({}), which has {}", alias, *id, lacks);
    return Answer::Never;
  }
  const auto failure = store_.newest_failure(*id);
  if (!failure) return Answer::Wait;
  // A cell that failed before this run is tried again, one that was cancelled is not.
  const bool stands = failure->status == CellStatus::Cancelled
                          ? is_cancelled(store_, *id)
                          : failure->generation > failed_before_.at(source);
  if (!stands) return Answer::Wait;
  why = fmt::format("starts from {} ({}), which ended as {}: {}", alias, *id,
                    name_of(failure->status), failure_reason(*failure));
  return Answer::Never;
}

}  // namespace depthgrid
