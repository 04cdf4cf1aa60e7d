#pragma once

#include <cstdint>

#include "core/config/probe_schedule.hpp"
#include "core/probe/record.hpp"

namespace depthgrid {

/// Observes a job while it trains and records what it finds. It must not change a bit of the
/// training; it observes all cells of the job at once.
class Probe {
 public:
  virtual ~Probe() = default;

  /// Declares every series that measure() will write.
  virtual void declare(RecordSink& out) = 0;

  virtual const ProbeSchedule& schedule() const = 0;

  /// Called when the schedule is due. @param step  optimiser steps done.
  virtual void measure(std::int64_t step, RecordSink& out) = 0;
};

}  // namespace depthgrid
