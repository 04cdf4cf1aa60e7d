#include "sweeps/live/work_phase.hpp"

#include <array>
#include <cstddef>

namespace depthgrid {
namespace {

// In the order of WorkPhase. Texts of gigabytes are tokenised, and large structures audited, in one
// go.
constexpr std::array kRules = {
    PhaseRule{WorkPhase::StartUp, "start-up", 4},
    PhaseRule{WorkPhase::Planning, "planning", 24},
    PhaseRule{WorkPhase::Corpora, "opening corpora", 24},
    PhaseRule{WorkPhase::Auditing, "auditing", 24},
    PhaseRule{WorkPhase::Building, "building a model", 4},
    PhaseRule{WorkPhase::Polling, "polling for a job", 1},
    PhaseRule{WorkPhase::Training, "training", 1},
    PhaseRule{WorkPhase::Evaluation, "evaluation", 1},
    PhaseRule{WorkPhase::Checkpoint, "checkpoint", 1},
    PhaseRule{WorkPhase::Probing, "probing", 1},
    PhaseRule{WorkPhase::Waiting, "waiting for other ranks", 0},
};
static_assert(kRules.back().phase == WorkPhase::Waiting &&
              kRules.size() == static_cast<std::size_t>(WorkPhase::Waiting) + 1);

}  // namespace

const PhaseRule& rule_of(WorkPhase phase) noexcept {
  return kRules[static_cast<std::size_t>(phase)];
}

}  // namespace depthgrid
