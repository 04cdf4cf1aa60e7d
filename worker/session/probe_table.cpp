#include "worker/session/probe_table.hpp"

#include <array>

namespace depthgrid {
namespace {

/// Makes a probe of a job; null if the leaves of its cells do not ask for it.
using MakeProbe = std::unique_ptr<Probe> (*)(const TrainedJob& job);

/// One row per probe.
constexpr std::array<MakeProbe, 0> kProbes = {};

}  // namespace

std::vector<std::unique_ptr<Probe>> make_probes(const TrainedJob& job) {
  std::vector<std::unique_ptr<Probe>> out;
  for (const MakeProbe make : kProbes) {
    if (auto probe = make(job)) out.push_back(std::move(probe));
  }
  return out;
}

}  // namespace depthgrid
