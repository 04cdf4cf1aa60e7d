#include "worker/run/run_service.hpp"

#include <exception>
#include <string>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/subprocess.hpp"
#include "distributed/agree.hpp"
#include "distributed/device_map.hpp"
#include "distributed/mpi_env.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/run/sweep_run.hpp"

namespace depthgrid {

int run(const RunOrder& order, int argc, char** argv) {
  watch_stop_signals();
  if (!under_launcher()) {
    return static_cast<int>(run_sweep(order, *make_self_collective(), 0, 1));
  }
  MpiEnv mpi(argc, argv);
  const auto world = mpi.world();
  configure_log(LogLevel::Info, world->size() > 1 ? "rank " + std::to_string(world->rank()) : "");
  try {
    if (const auto problem = world_size_problem(world->size())) {
      throw UserError(ExitCode::BadConfig, *problem);
    }
    return static_cast<int>(run_sweep(order, *world, mpi.local_rank(), mpi.local_size()));
  } catch (const SharedError& e) {  // all ranks are here: one of them reports it
    if (world->rank() == 0) log(LogLevel::Error, e.what());
    world->barrier();
    return static_cast<int>(e.code());
  } catch (const UserError& e) {  // the other ranks wait for this one: end them too
    log(LogLevel::Error, e.what());
    MpiEnv::abort(e.code());
  } catch (const std::exception& e) {
    log(LogLevel::Error, e.what());
    MpiEnv::abort(ExitCode::Failed);
  }
}

}  // namespace depthgrid
