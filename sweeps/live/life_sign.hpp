#pragma once

#include <cstdint>

#include "sweeps/live/work_phase.hpp"

namespace depthgrid {

/// What a rank is busy with, and how many signs of life it has given.
struct LifeSign {
  WorkPhase phase = WorkPhase::StartUp;
  std::int64_t beats = 0;
};

}  // namespace depthgrid
