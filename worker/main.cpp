#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include <malloc.h>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/reproducible_products.hpp"
#include "core/base/version.hpp"
#include "worker/worker_verbs.hpp"

namespace depthgrid {
namespace {

/// Sends LibTorch's warnings to our log at a level that is not shown: the one about gradient
/// layouts is harmless (gradients are views of the arena) and every process would print it.
class LogWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    log(LogLevel::Debug, "LibTorch: " + warning.msg());
  }
};

/// Large tensors are taken from the heap and kept there: fresh pages for every step cost more than
/// the arithmetic of small cells.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
}

int start(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--version") {
    std::printf("depthgrid-worker %s\n", code_version().c_str());
    return 0;
  }
  configure_log(wanted_log_level(), "");
  keep_memory();
  reproducible_products();
  static LogWarnings handler;  // LibTorch keeps the pointer for the life of the process
  c10::WarningUtils::set_warning_handler(&handler);
  at::set_num_interop_threads(1);
  return dispatch(worker_verbs(), argc, argv, std::cin);
}

}  // namespace
}  // namespace depthgrid

int main(int argc, char** argv) {
  try {
    return depthgrid::start(argc, argv);
  } catch (const depthgrid::UserError& e) {
    depthgrid::log(depthgrid::LogLevel::Error, e.what());
    return static_cast<int>(e.code());
  } catch (const std::exception& e) {
    depthgrid::log(depthgrid::LogLevel::Error, e.what());
    return static_cast<int>(depthgrid::ExitCode::Failed);
  }
}
