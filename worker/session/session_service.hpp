#pragma once

#include <cstdint>
#include <vector>

#include "core/train/trainer.hpp"

namespace depthgrid {

/// A completed training step.
struct StepEvent {
  std::int64_t step = 0;  // from 1
  const StepReport& report;
  double seconds = 0;  // duration of the step
};

/// Follows the training loop of a job on the team's first rank: recording, evaluation, probes. A
/// service acts on the steps for which it is due.
class SessionService {
 public:
  virtual ~SessionService() = default;

  /// Called before the first step of this attempt, after `step` steps of earlier ones.
  virtual void begin(std::int64_t /*step*/) {}
  /// Called after every step, after the services before it have acted.
  virtual bool due(std::int64_t step) const = 0;
  virtual void act(const StepEvent& event) = 0;
  /// No further step is made; the last evaluation is still to come.
  virtual void end(std::int64_t /*step*/) {}
};

/// The services of a job, called in the order in which they were added.
class SessionServices {
 public:
  /// @param service  outlives this.
  void add(SessionService& service) { services_.push_back(&service); }

  void begin(std::int64_t step) const {
    for (SessionService* service : services_) service->begin(step);
  }
  void stepped(const StepEvent& event) const {
    for (SessionService* service : services_) {
      if (service->due(event.step)) service->act(event);
    }
  }
  void end(std::int64_t step) const {
    for (SessionService* service : services_) service->end(step);
  }

 private:
  std::vector<SessionService*> services_;
};

}  // namespace depthgrid
