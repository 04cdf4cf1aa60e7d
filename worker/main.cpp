#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include <malloc.h>

#include <ATen/Parallel.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/reproducible_products.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/version.hpp"
#include "distributed/agree.hpp"
#include "distributed/collective.hpp"
#include "distributed/device_map.hpp"
#include "distributed/mpi_env.hpp"
#include "worker/audit/audit_service.hpp"
#include "worker/bench/bench.hpp"
#include "worker/describe/describe.hpp"
#include "worker/eval/eval_cell.hpp"
#include "worker/generate/generate.hpp"
#include "worker/inspect/check_service.hpp"
#include "worker/process/log_warnings.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/run/sweep_run.hpp"
#include "worker/weights/export_weights.hpp"

namespace depthgrid {
namespace {

/// Large tensors are taken from the heap and kept there: fresh pages for every step cost more than
/// the arithmetic of small cells.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

int run(const std::string& text, int argc, char** argv) {
  const RunOrder order = parse_run_order(text);
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
  } catch (const SharedError& e) {  // all ranks are here: one of them speaks
    if (world->rank() == 0) log(LogLevel::Error, e.what());
    world->barrier();
    return static_cast<int>(e.code());
  } catch (const UserError& e) {  // the others wait for this rank: it ends them too
    log(LogLevel::Error, e.what());
    MpiEnv::abort(e.code());
  } catch (const std::exception& e) {
    log(LogLevel::Error, e.what());
    MpiEnv::abort(ExitCode::Failed);
  }
}

int dispatch(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "--version") {
    std::printf("depthgrid-worker %s\n", code_version().c_str());
    return 0;
  }
  keep_memory();
  reproducible_products();
  route_library_warnings();
  at::set_num_interop_threads(1);
  if (verb == "describe") {
    const std::string in{std::istreambuf_iterator<char>(std::cin), {}};
    std::puts(describe(in).c_str());
    return 0;
  }
  if (verb == "audit") {
    const std::string in{std::istreambuf_iterator<char>(std::cin), {}};
    std::puts(audit(in).c_str());
    return 0;
  }
  if (verb == "check") {
    const std::string in{std::istreambuf_iterator<char>(std::cin), {}};
    const CheckAnswer answer = check(in);
    std::puts(answer.json.c_str());
    return static_cast<int>(answer.code);
  }
  if (verb == "bench" && argc == 3) return bench(parse_bench_order(argv[2]));
  if (verb == "export" && argc == 3) return export_weights(parse_export_order(argv[2]));
  if (verb == "eval" && argc == 3) return eval_cell(parse_eval_order(argv[2]));
  if (verb == "generate" && argc == 3) return generate(parse_generate_order(argv[2]));
  if (verb == "run" && argc == 3) return run(argv[2], argc, argv);
  std::fputs(
      "usage: depthgrid-worker run|bench|export|eval|generate ORDER |\n"
      "       describe|audit|check < REQUEST.json | --version\n"
      "It is started by depthgrid; see depthgrid --help.\n",
      stderr);
  return static_cast<int>(ExitCode::Usage);
}

}  // namespace
}  // namespace depthgrid

int main(int argc, char** argv) {
  try {
    return depthgrid::dispatch(argc, argv);
  } catch (const depthgrid::UserError& e) {
    depthgrid::log(depthgrid::LogLevel::Error, e.what());
    return static_cast<int>(e.code());
  } catch (const std::exception& e) {
    depthgrid::log(depthgrid::LogLevel::Error, e.what());
    return static_cast<int>(depthgrid::ExitCode::Failed);
  }
}
