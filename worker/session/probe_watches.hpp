#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "worker/session/probe_watch.hpp"
#include "worker/session/session_service.hpp"
#include "worker/session/trained_job.hpp"

namespace depthgrid {

/// All that the probes of a job follow from step to step.
class ProbeWatches final : public SessionService {
 public:
  /// Both outlive this.
  ProbeWatches(const TrainedJob& job, const ProbeWatchList& watches)
      : job_(job), watches_(watches) {}

  void attach(Trainer& trainer) const;
  void save(std::size_t e, std::map<std::string, double>& numbers) const;
  void restore(std::size_t e, const std::map<std::string, double>& numbers) const;

  bool due(std::int64_t /*step*/) const override { return !watches_.empty(); }
  void act(const StepEvent& event) override;

 private:
  const TrainedJob& job_;
  const ProbeWatchList& watches_;
};

}  // namespace depthgrid
