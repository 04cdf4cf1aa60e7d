#include "worker/session/state_files.hpp"

#include "storage/cells/state_file.hpp"

namespace depthgrid {

std::filesystem::path store_states(const std::filesystem::path& cell_dir, const CellId& cell,
                                   const StateRecord& record, const Fs& disk,
                                   const std::vector<double>& control) {
  return publish_states(cell_dir,
                        {.cell = cell,
                         .step = record.step,
                         .half = record.half,
                         .sequences = record.sequences,
                         .edge_times = record.edge_times,
                         .channels = record.channels,
                         .token_ids = record.token_ids,
                         .states = record.states,
                         .control = control},
                        disk);
}

}  // namespace depthgrid
