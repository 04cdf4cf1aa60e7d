#include "worker/run/exact_resume.hpp"

#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "worker/session/cell_checkpoint.hpp"

namespace depthgrid {
namespace {

[[noreturn]] void refuse_resume(const RunContext& run, const ClaimedCell& cell,
                                const std::string& before, const std::string& now,
                                const std::string& leaf) {
  throw UserError(
      ExitCode::BadConfig,
      fmt::format("{} was trained up to step {} with {}, this run has {}: sums would be rounded "
                  "otherwise, and it would not end with the numbers of an undisturbed run. Go on "
                  "with --set {}, or accept that with --allow-inexact, which the store records",
                  run.sweep.cells[cell.row].alias, cell.state->step, before, now, leaf));
}

}  // namespace

void require_exact_resume(const RunContext& run, const Claim& claim) {
  if (run.sweep.run.flag("resources.allow_inexact")) return;
  for (const ClaimedCell& cell : claim.cells) {
    if (!cell.state) continue;
    const auto ranks = cell.state->numbers.find("ranks");
    if (ranks != cell.state->numbers.end() && static_cast<int>(ranks->second) != run.sync.ranks()) {
      const auto before = static_cast<int>(ranks->second);
      refuse_resume(run, cell, fmt::format("{} rank(s) per job", before),
                    std::to_string(run.sync.ranks()),
                    fmt::format("resources.ranks_per_job={}", before));
    }
    const auto device = cell.state->texts.find("device");
    const std::string here = kind_of(run.device.device);
    if (device != cell.state->texts.end() && device->second != here) {
      refuse_resume(run, cell, "device " + device->second, here,
                    "resources.device=" + device->second);
    }
  }
}

}  // namespace depthgrid
