#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/train/trainer.hpp"

namespace depthgrid {

/// What a probe follows at every step of a training, between its measurements. A row of the table
/// of probes that needs one makes it along with its probe, which refers to it.
class ProbeWatch {
 public:
  virtual ~ProbeWatch() = default;

  /// Lets `trainer` report what step() reads.
  virtual void attach(Trainer& trainer) const = 0;
  /// @param made  whether a cell has made this step, or has failed in it.
  virtual void step(const StepReport& report, const std::function<bool(std::size_t)>& made) = 0;

  /// What is counted of cell e, for its checkpoint and from one. Numbers that a checkpoint lacks,
  /// of an earlier build or with the probe off, are not known from then on.
  virtual void save(std::size_t e, std::map<std::string, double>& numbers) const = 0;
  virtual void restore(std::size_t e, const std::map<std::string, double>& numbers) = 0;
};

using ProbeWatchList = std::vector<std::unique_ptr<ProbeWatch>>;

}  // namespace depthgrid
