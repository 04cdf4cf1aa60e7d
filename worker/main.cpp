#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include <malloc.h>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/base/reproducible_products.hpp"
#include "core/base/version.hpp"
#include "worker/process/end_note.hpp"
#include "worker/worker_verbs.hpp"

namespace depthgrid {
namespace {

/// Sends LibTorch's warnings to our log file. The one about gradient layouts is dropped: it is
/// about speed, and gradients that are views of the arena are faster.
class LogWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (warning.msg().find("gradient layout contract") != std::string::npos) return;
    log_quietly(LogLevel::Warning, "LibTorch: " + warning.msg());
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
  // We run in a process group of our own, for the terminal a background job: what the user's own
  // foreground job may write (stty tostop), its worker may write as well.
  std::signal(SIGTTOU, SIG_IGN);
  configure_log(wanted_log_level(), "");
  isa_in_use();  // a value that cannot be is refused before any work
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
  constexpr int kFailed = static_cast<int>(depthgrid::ExitCode::Failed);
  depthgrid::keep_standard_streams();
  int code = kFailed;
  try {
    code = depthgrid::start(argc, argv);
  } catch (const depthgrid::UserError& e) {
    depthgrid::log(depthgrid::LogLevel::Error, e.what());
    code = static_cast<int>(e.code());
  } catch (const std::exception& e) {
    depthgrid::log(depthgrid::LogLevel::Error, e.what());
  }
  if (code == kFailed) depthgrid::note_end(code);  // a launcher that fails itself returns it, too
  return code;
}
