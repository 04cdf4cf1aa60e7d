#include "worker/session/probe_watches.hpp"

namespace depthgrid {

void ProbeWatches::attach(Trainer& trainer) const {
  for (const auto& watch : watches_) watch->attach(trainer);
}

void ProbeWatches::save(std::size_t e, std::map<std::string, double>& numbers) const {
  for (const auto& watch : watches_) watch->save(e, numbers);
}

void ProbeWatches::restore(std::size_t e, const std::map<std::string, double>& numbers) const {
  for (const auto& watch : watches_) watch->restore(e, numbers);
}

void ProbeWatches::act(const StepEvent& event) {
  const auto made = [&](std::size_t e) {
    return job_.running(e) || event.report.nonfinite[e] != 0;
  };
  for (const auto& watch : watches_) watch->step(event.report, made);
}

}  // namespace depthgrid
