#include "sweeps/live/time_model.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/nan.hpp"

namespace depthgrid {

void TimeModel::trained(const std::string& structure, double predicted, double seconds) {
  if (predicted <= 0) return;
  for (Ratio* r : {&training_[structure], &all_}) {
    r->predicted += predicted;
    r->seconds += seconds;
  }
}

void TimeModel::ended(const std::string& structure, const PredictedTime& predicted,
                      double seconds) {
  const double expected = predicted.ending + predicted.fixed;
  if (expected <= 0) return;
  for (Ratio* r : {&ending_[structure], &endings_}) {
    r->predicted += expected;
    r->seconds += seconds;
  }
}

double TimeModel::seconds(const std::string& structure, const PredictedTime& predicted) const {
  if (!knows() && endings_.predicted <= 0) return kNaN;
  const double speed = knows() ? all_.value() : 1;
  const auto trained = training_.find(structure);
  const double training =
      predicted.training * (trained == training_.end() ? speed : trained->second.value());
  const auto end = ending_.find(structure);
  if (end != ending_.end()) {
    return training + (predicted.ending + predicted.fixed) * end->second.value();
  }
  if (endings_.predicted > 0) {
    return training + (predicted.ending + predicted.fixed) * endings_.value();
  }
  return training + predicted.ending * speed + predicted.fixed;
}

double time_to_end(std::vector<double> busy, const std::vector<WaitingJob>& waiting) {
  for (const WaitingJob& job : waiting) {
    const auto taken = busy.begin() + static_cast<std::ptrdiff_t>(std::min(job.width, busy.size()));
    std::partial_sort(busy.begin(), taken, busy.end());
    std::fill(busy.begin(), taken, *std::prev(taken) + job.seconds);
  }
  return *std::ranges::max_element(busy);
}

}  // namespace depthgrid
