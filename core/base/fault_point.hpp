#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depthgrid {

/// A fault on order, for tests of what follows one: the environment variable DEPTHGRID_FAULT is
/// "ACTION@STEP" or "ACTION@STEP@CELL" with the actions abort, sleep (for ever), and kill
/// (SIGKILL).
class FaultPoint {
 public:
  /// Reads the environment. @throws UserError (Usage) for a text of another form.
  FaultPoint();

  /// False in all ordinary runs.
  bool armed() const noexcept { return step_ >= 0; }

  /// The fault, if it is due. @param step  training steps done. @param cells  ids of the job.
  void pass(std::int64_t step, const std::vector<std::string>& cells) const;

 private:
  std::string action_, cell_;
  std::int64_t step_ = -1;
};

}  // namespace depthgrid
