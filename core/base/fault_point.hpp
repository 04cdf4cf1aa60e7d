#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depthgrid {

/// Faults on request, for tests of what follows one: the environment variable DEPTHGRID_FAULT is
/// "ACTION@STEP" or "ACTION@STEP@CELL", or several of these with commas between them. Actions:
/// abort, segv, fpe and kill (signals), exit (code 3, without a word), error (an exception of the
/// program), oom (std::bad_alloc), device (an error of CUDA that a card which fails would cause),
/// sleep (for ever). "enospc@N" fills the disk: see
/// disk_full_on_request().
class FaultPoint {
 public:
  /// Reads the environment. @throws UserError (Usage) for a text of another form.
  FaultPoint();

  /// False in all ordinary runs.
  bool armed() const noexcept { return !faults_.empty(); }

  /// The fault, if one is due. @param step  training steps done. @param cells  ids of the job.
  void pass(std::int64_t step, const std::vector<std::string>& cells) const;

 private:
  struct Fault {
    void (*act)();
    std::int64_t step;
    std::string cell;  // empty: any
  };
  std::vector<Fault> faults_;
};

/// Counts a publication of a file. True from the N-th of this process on, if DEPTHGRID_FAULT is
/// "enospc@N". @throws UserError (Usage) for a text of another form.
bool disk_full_on_request();

}  // namespace depthgrid
