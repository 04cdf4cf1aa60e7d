#include "cli/design/cell_settings_argument.hpp"

#include "cli/arguments/store_argument.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/report/cell_log.hpp"

namespace depthgrid {

CellSettingsArgument::CellSettingsArgument(const CommandLine& line) {
  const StoreArgument argument(line);
  if (argument.sweep) {
    SweepRequest request = argument.request;
    request.leaf_sources = true;
    Sweep sweep = argument.sweep->goals.empty()
                      ? load_sweep(request)
                      : matched_sweep(request, argument.folder, described_amounts());
    settings.plan = stored_plan(sweep);
    settings.leaf_sources = std::move(sweep.leaf_sources);
  } else {
    settings.plan = read_plan(argument.open());
  }
  listing = list_plan(settings.plan, argument.folder.string());
}

std::size_t CellSettingsArgument::row(std::string_view cell) const {
  return find_cell(listing, cell);
}

}  // namespace depthgrid
