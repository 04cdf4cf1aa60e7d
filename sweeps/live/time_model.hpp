#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Corrects predicted times by those that were measured in this run: by structure where one has
/// been seen, else by the ratio of all that were seen. Predictions from operation counts are off by
/// a common factor and, less so, between structures.
class TimeModel {
 public:
  /// Adds training that was predicted to take `predicted` seconds and took `seconds`.
  void trained(const std::string& structure, double predicted, double seconds);
  /// Adds what followed the last step of a job, and the wait before its first.
  void ended(const std::string& structure, const PredictedTime& predicted, double seconds);

  /// True once any training was measured.
  bool knows() const { return all_.predicted > 0 && all_.seconds > 0; }

  /// Time in seconds of work of this structure; NaN while nothing is known.
  double seconds(const std::string& structure, const PredictedTime& predicted) const;

 private:
  struct Ratio {
    double predicted = 0, seconds = 0;
    double value() const { return seconds / predicted; }
  };

  std::map<std::string, Ratio> training_, ending_;
  Ratio all_;      // training
  Ratio endings_;  // of all structures
};

struct WaitingJob {
  double seconds;
  std::size_t width = 1;  // places that it takes
};

/// Seconds until the last job ends.
/// @param busy     s until each place is free; at least one.
/// @param waiting  jobs that take the places that are free first, in this order; as many as there
///                 are, if a job wants more.
double time_to_end(std::vector<double> busy, const std::vector<WaitingJob>& waiting);

}  // namespace depthgrid
