#include "sweeps/run/restarted_run.hpp"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/processes.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/terminal.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/orders/worker_command.hpp"
#include "sweeps/queue/cell_orders.hpp"
#include "sweeps/report/chosen_cells.hpp"
#include "sweeps/run/run_end.hpp"
#include "sweeps/run/stop_watch.hpp"
#include "sweeps/run/supervised_run.hpp"
#include "sweeps/run/worker_restarts.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kGoesOn =
    "what it had recorded is kept, and the same command goes on from there";

/// What a run has achieved so far, and what it has left to do.
struct RunState {
  bool left = false;         // cells without a result and without a standing failure
  std::int64_t reached = 0;  // grows with every result, report and newer checkpoint
};

RunState state_of_run(const RunRequest& request) {
  RunState out;
  try {
    const Store store = Store::open(request.store);
    if (!has_plan(store)) return out;
    const Sweep planned = request.planned_sweep();
    const std::vector<bool> chosen = chosen_cells(planned, request.order.only);
    for (std::size_t row = 0; row < planned.cells.size(); ++row) {
      if (!chosen[row]) continue;
      const CellId& id = planned.cells[row].id;
      const bool done = store.completed(id);
      const auto failure = store.newest_failure(id);
      out.left = out.left || (!done && !failure_stands(store, id));
      out.reached += ((done ? 1 : 0) + (failure ? failure->generation : 0)) << 32;
      if (!done) out.reached += newest_step(store.cell_path(id), store.fs());
    }
  } catch (const Error& e) {  // what cannot be read now is left as it is
    log(LogLevel::Debug, e.what());
    return {};
  }
  return out;
}

std::string how_it_ended(int code) {
  if (code <= 128) return fmt::format("the worker has ended itself with exit code {}", code);
  return fmt::format("the worker was ended by signal {} ({})", code - 128, strsignal(code - 128));
}

void say_how_it_ended(int code, const WorkerRestarts::Verdict& verdict) {
  if (code > 128) erase_display();  // the worker was killed while it drew
  std::string after(kGoesOn);
  if (verdict.again) {
    after = fmt::format("what it had recorded is kept, and it is started again in {:.0f} s",
                        verdict.seconds);
  } else if (verdict.used_up) {
    after = fmt::format("{} times without progress, of {} that {} allows; {}", verdict.failures,
                        verdict.allowed, policy_of(verdict.end).budget, kGoesOn);
  } else if (code <= 128) {
    return;  // it has said why
  }
  log(verdict.again ? LogLevel::Warning : LogLevel::Error, how_it_ended(code) + "; " + after);
}

/// Whether the signal that asked it to stop came before it could listen. A second INT, which ends a
/// worker that trains at once, is no such request.
bool died_by_request(const WorkerEnd& worker) {
  const bool by_it = worker.passed_on != 0 && worker.code == 128 + worker.passed_on;
  return by_it && (worker.passed_on != SIGINT || !worker.began);
}

}  // namespace

int run_restarted(const RunRequest& request, std::size_t before) {
  WorkerRestarts restarts(retry_options(request.sweep.run));
  RunOrder next = request.order;
  std::int64_t reached = 0;  // of no matter before the first end: its budgets are full
  while (true) {
    const std::int64_t oom_kills = real_processes().oom_kills_so_far();
    WorkerEnd worker;
    worker.code = run_child(worker_command("run", order_text(next)), true, &worker.passed_on);
    const bool may = worker.code > 128 || worker.code == number_of(ExitCode::Hang) ||
                     worker.code == number_of(ExitCode::Infrastructure);
    if (!may) return worker.code;
    worker.oom_kills = real_processes().oom_kills_so_far() - oom_kills;
    worker.began = attempts_in(request.store) > before;
    if (worker.began) {
      const RunState state = state_of_run(request);
      worker.left = state.left;
      worker.progressed = state.reached > std::exchange(reached, state.reached);
    }
    const WorkerRestarts::Verdict verdict = restarts.ended(worker, real_clock().now());
    if (died_by_request(worker)) return number_of(ExitCode::TempFail);
    say_how_it_ended(worker.code, verdict);
    if (!verdict.again) return worker.code;
    if (!StopWatch().wait_unasked(verdict.seconds)) return number_of(ExitCode::TempFail);
    next.rerun.clear();  // their results have been set aside before anything was trained
  }
}

}  // namespace depthgrid
