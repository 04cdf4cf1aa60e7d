#include "worker/process/log_warnings.hpp"

#include <c10/util/Exception.h>

#include "core/base/log.hpp"

namespace depthgrid {
namespace {

class LogWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    log(LogLevel::Debug, "LibTorch: " + warning.msg());
  }
};

}  // namespace

void route_library_warnings() {
  static LogWarnings handler;  // LibTorch keeps the pointer for the life of the process
  c10::WarningUtils::set_warning_handler(&handler);
}

}  // namespace depthgrid
