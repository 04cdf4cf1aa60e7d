#include "worker/run/sweep_plan.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "distributed/agree.hpp"
#include "models/options/model_options.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/former_values.hpp"
#include "storage/plan_repair.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/plan/growth.hpp"
#include "sweeps/plan/matched_sweep.hpp"
#include "sweeps/plan/start_check.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/queue/remaining_cells.hpp"
#include "sweeps/queue/rerun.hpp"
#include "sweeps/report/listing.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/session/final_weights.hpp"

namespace depthgrid {
namespace {

/// Refuses weights that do not fit before anything is trained or written to the store.
void refuse_misfits(const Sweep& sweep) {
  TensorTable tensors;
  for (const CellPlan& cell : start_structures(sweep)) {
    tensors.emplace(cell.structure, tensor_infos(layout_of(model_options({&cell.config}))));
  }
  check_starts(sweep, tensors);
}

FileAccess access_of(const RunCommand& command) {
  return command.shared_group ? FileAccess::Group : FileAccess::Owner;
}

/// Expands the sweep again with the widths of `match:`, which are in the store's plan afterwards.
void match_widths(Sweep& sweep, const SweepRequest& request, const RunCommand& command) {
  const Amounts amounts = described_amounts();
  sweep = matched_sweep(request, command.store, amounts);
  refuse_misfits(sweep);
  const Store store = Store::open_or_create(command.store, access_of(command));
  if (!publish_first_plan(store, sweep)) {  // perhaps by another run, just now
    sweep = matched_sweep(request, command.store, amounts);
  }
  for (const MatchedWidth& width : sweep.matched) {
    log(LogLevel::Info, "match: " + matched_text(width));
  }
}

/// Says which cells have lost the results that sweep.h5 shows they had.
void report_lost_results(const Sweep& sweep, const Store& store) {
  if (!something_at(store.packed_file(), store.fs())) return;
  Listing listing = list_store(store, store.root().string(), &sweep);
  std::erase_if(listing.cells, [&](const CellSummary& cell) {
    return !cell.in_plan || !is_result(cell.status) || store.completed(cell.id);
  });
  for (const std::string& line : damage_lines(listing)) log(LogLevel::Warning, line);
}

}  // namespace

Sweep planned_sweep(const RunCommand& command, Collective& world) {
  SweepRequest request{.file = command.file, .set = command.set, .yes = command.yes};
  Sweep sweep = load_sweep(request);
  if (sweep.goals.empty()) {
    agree_on_first(world, [&] { refuse_misfits(sweep); });
    return sweep;
  }
  agree_on_first(world, [&] { match_widths(sweep, request, command); });
  const std::string widths =
      broadcast_text(world, world.rank() == 0 ? matched_json(sweep.matched) : "", 0);
  if (world.rank() == 0) return sweep;
  request.matched = matched_from_json(widths);
  return load_sweep(request);
}

Store opened_store(const RunCommand& command, Collective& world) {
  std::optional<Store> store;
  agree_on_first(world, [&] {
    store = Store::open_or_create(command.store, access_of(command));
    for (const std::string& repair : repair_plans(*store)) log(LogLevel::Warning, repair);
  });
  return store ? *store : Store::open(command.store);
}

void publish_sweep(const RunCommand& command, Collective& world, const Sweep& sweep,
                   const Store& store, Progress& progress) {
  if (!command.plans()) return;
  agree_on_first(world, [&] {
    // A task: submit has published its plan, which may not be the newest any more.
    if (!command.cells.empty() && all_planned(store, command.cells)) return;
    const Growth growth = growth_of(sweep, store.root());
    const std::int64_t generation = publish_plan(store, sweep).generation;
    if (growth.done + growth.in_progress + growth.absent == 0) return;
    progress.notify(fmt::format("plan {} of the store: {}", generation, growth_text(growth)));
  });
}

void begin_again(const RunCommand& command, Collective& world, const Sweep& sweep,
                 const Store& store, Progress& progress) {
  if (!command.plans()) return;
  agree_on_first(world, [&] {
    LeaseKeeper leases({.ttl = std::chrono::seconds(sweep.run.integer("resources.lease"))},
                       store.fs());
    const FormerValues former(store, sweep);
    if (const std::string note = former_names_note(store, sweep); !note.empty())
      progress.notify(note);
    for (const CellPlan& cell : sweep.cells) {
      if (!command.cells.empty() &&
          std::ranges::find(command.cells, cell.id) == command.cells.end()) {
        continue;
      }
      if (const std::string why = former.of(cell.id); !why.empty()) {
        const std::filesystem::path earlier = archive_records(store, cell.id, leases);
        progress.notify(fmt::format("{}: {}; its files are in {} now, it is trained again",
                                    cell.alias, why, earlier.filename().string()));
      }
      if (std::ranges::find(command.rerun, cell.id) == command.rerun.end()) continue;
      const auto earlier = archive_result(store, cell.id, leases);
      progress.notify(earlier ? fmt::format("{}: its files are in {} now; it is trained again",
                                            cell.alias, earlier->string())
                              : fmt::format("{}: it has no result yet", cell.alias));
    }
  });
}

std::vector<bool> wanted_cells(const RunCommand& command, Collective& world, const Sweep& sweep,
                               const Store& store) {
  std::string marks;
  if (world.rank() == 0) {
    for (const bool left : remaining_cells(sweep, store, command.only, command.cells)) {
      marks += left ? '1' : '0';
    }
    if (command.plans() && marks.find('1') != marks.npos) report_lost_results(sweep, store);
  }
  std::vector<bool> out;
  for (const char mark : broadcast_text(world, marks, 0)) out.push_back(mark == '1');
  return out;
}

}  // namespace depthgrid
