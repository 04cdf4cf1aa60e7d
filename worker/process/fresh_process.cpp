#include "worker/process/fresh_process.hpp"

#include <csignal>

#include <malloc.h>

#include <c10/core/CachingDeviceAllocator.h>

#include "core/base/subprocess.hpp"
#include "worker/process/stop_signals.hpp"

namespace depthgrid {

int train_apart(RunOrder order, const CellId& cell, bool on_gpu) {
  order.cell = cell;
  malloc_trim(0);
  if (on_gpu) at::getDeviceAllocator(at::kCUDA)->emptyCache();
  const int code = run_apart(
      {program_beside("depthgrid-worker").string(), "run", order_text(order)}, stop_requested);
  return code == 128 + SIGKILL ? static_cast<int>(ExitCode::OutOfMemory) : code;
}

}  // namespace depthgrid
