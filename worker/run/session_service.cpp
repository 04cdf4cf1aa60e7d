#include "worker/run/session_service.hpp"

namespace depthgrid {

void SessionServices::begin(std::int64_t step) const {
  for (SessionService* service : services_) service->begin(step);
}

void SessionServices::stepped(const StepEvent& event) const {
  for (SessionService* service : services_) {
    if (service->due(event.step)) service->act(event);
  }
}

void SessionServices::stop(std::int64_t step) const {
  for (SessionService* service : services_) service->stop(step);
}

void SessionServices::end(std::int64_t step) const {
  for (SessionService* service : services_) service->end(step);
}

}  // namespace depthgrid
