#include <string>
#include <string_view>
#include <utility>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/report/cell_settings.hpp"

namespace depthgrid {
namespace {

/// The configurations that STORE (or --store) names: those of the sweep file where one is named,
/// else those of the store's plan.
struct NamedSettings {
  CellSettings settings;
  Listing listing;  // names of the cells only

  /// @throws as StoreArgument, load_sweep() and read_plan()
  explicit NamedSettings(const CommandLine& line) {
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

  /// @throws UserError (Usage) as find_cell()
  std::size_t row(std::string_view cell) const { return find_cell(listing, cell); }
};

}  // namespace

int show_verb(const Arguments& arguments) {
  CommandLine line("show CELL [STORE] [--all] [--json]",
                   "The resolved configuration of a cell: every leaf that it reads, its value and "
                   "where\nthat comes from. With a sweep file as STORE, the lines that wrote it.");
  line.examples({"show hidden=4,s0 configs/tiny.yaml", "show 9867 results/tiny --all --json"});
  store_options(line.argument("CELL")).flag("all", "leaves that the cell does not read, too");
  if (!line.json().parse(arguments)) return 0;
  const std::string cell = line.required("CELL");
  const NamedSettings named(line);
  const std::size_t row = named.row(cell);
  print(line.has("json") ? settings_json(named.settings, row)
                         : settings_text(named.settings, row, line.has("all")));
  return 0;
}

int diff_verb(const Arguments& arguments) {
  CommandLine line("diff CELL CELL [STORE] [--json]",
                   "The leaves in which the configurations of two cells differ.");
  line.examples({"diff hidden=4,s0 hidden=8,s0 results/tiny",
                 "diff fa63 4de3 configs/quickstart.yaml --json"});
  store_options(line.argument("CELL").argument("OTHER"));
  if (!line.json().parse(arguments)) return 0;
  const std::string first = line.required("CELL");
  const std::string second = line.required("OTHER");
  const NamedSettings named(line);
  const std::size_t a = named.row(first);
  const std::size_t b = named.row(second);
  print(line.has("json") ? difference_json(named.settings, a, b)
                         : difference_text(named.settings, a, b));
  return 0;
}

}  // namespace depthgrid
