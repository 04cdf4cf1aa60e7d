#include "sweeps/run/plain_run.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/processes.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/protocol/worker_command.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/queue/remaining_cells.hpp"
#include "sweeps/run/foreground_run.hpp"
#include "sweeps/run/run_end.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

/// Whether cells are left without a result and without a standing failure, once one has been begun.
RunState state_of_run(const RunRequest& request, std::size_t before) {
  RunState out{.goes_on = false};
  try {
    if (attempts_in(request.store) == before) return out;
    const Store store = Store::open(request.store);
    if (!has_plan(store)) return out;
    const Sweep planned = request.planned_sweep();
    const std::vector<bool> left = remaining_cells(planned, store, request.command.only, {});
    std::vector<CellId> cells;
    for (std::size_t row = 0; row < planned.cells.size(); ++row) {
      const CellId& id = cells.emplace_back(planned.cells[row].id);
      out.goes_on = out.goes_on || (left[row] && !failure_stands(store, id));
    }
    out.reached = progress_measure(store, cells);
  } catch (const Error& e) {  // what cannot be read now is left as it is
    log(LogLevel::Debug, e.what());
    return {.goes_on = false};
  }
  return out;
}

}  // namespace

RetryOptions plain_retries(const CellConfig& run) {
  constexpr std::int64_t kUntilTheWorkerGivesUp = 2;
  RetryOptions out = retry_options(run);
  out.budget = [budget = std::move(out.budget)](std::string_view leaf) {
    return budget(leaf) + (leaf == policy_of(LaunchEnd::Crash).budget ? kUntilTheWorkerGivesUp : 0);
  };
  return out;
}

int run_plain(const RunRequest& request, std::size_t before, StopWatch& signals, EventLog& events) {
  RunCommand next = request.command;
  return run_in_foreground(
      {.id = kPlainRunId + real_processes().self().uuid,
       .launch = {.name = "the worker",
                  .command =
                      [&next](const std::string& channel) {
                        next.channel = channel;
                        std::vector<std::string> words = worker_command("run", command_json(next));
                        next.rerun.clear();  // another attempt goes on with what this began
                        return words;
                      },
                  .hang = next.hang},
       .store = request.store,
       .host = node_name(),
       .slurm_job = this_task(),
       .restart = restart_of_task(),
       .retries = plain_retries(request.sweep.run),
       .state = [&] { return state_of_run(request, before); }},
      signals, events);
}

}  // namespace depthgrid
