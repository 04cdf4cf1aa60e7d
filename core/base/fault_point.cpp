#include "core/base/fault_point.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "core/base/error.hpp"

namespace depthgrid {

FaultPoint::FaultPoint() {
  const char* const text = std::getenv("DEPTHGRID_FAULT");
  if (text == nullptr || *text == '\0') return;
  std::istringstream parts(text);
  std::string step;
  std::getline(parts, action_, '@');
  std::getline(parts, step, '@');
  std::getline(parts, cell_, '@');
  const bool known = action_ == "abort" || action_ == "sleep" || action_ == "kill";
  if (!known || step.empty() || step.find_first_not_of("0123456789") != step.npos) {
    throw UserError(ExitCode::Usage, std::string("DEPTHGRID_FAULT=") + text +
                                         ": expected abort, sleep or kill, then @STEP or "
                                         "@STEP@CELL");
  }
  step_ = std::stoll(step);
}

void FaultPoint::pass(std::int64_t step, const std::vector<std::string>& cells) const {
  if (step != step_) return;
  if (!cell_.empty() && std::ranges::find(cells, cell_) == cells.end()) return;
  if (action_ == "abort") std::abort();
  if (action_ == "kill") raise(SIGKILL);
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace depthgrid
