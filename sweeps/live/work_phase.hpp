#pragma once

#include <cstdint>

namespace depthgrid {

/// What a rank is busy with, as its watchdog sees it.
enum class WorkPhase : std::uint8_t {
  StartUp,   // MPI, the store, NCCL, devices
  Planning,  // the sweep's cells and the widths of match:
  Corpora,   // texts are read, and tokenised where no cache has them
  Auditing,  // structures are checked
  Building,  // of a job's model, from a checkpoint or from nothing
  Polling,   // for the next job
  Training,
  Evaluation,
  Checkpoint,
  Probing,
  Waiting  // in a collective call, for a rank that has a watchdog of its own
};

struct PhaseRule {
  WorkPhase phase;
  const char* name;
  /// Of the limit: calls that nothing divides and that may take long get more of it. 0: the phase
  /// is not judged.
  double factor;
};

const PhaseRule& rule_of(WorkPhase phase) noexcept;

}  // namespace depthgrid
