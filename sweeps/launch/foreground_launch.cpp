#include "sweeps/launch/foreground_launch.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/log.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

LaunchCommand direct_command(const ForegroundSpec& spec, const LaunchRequest& request) {
  LaunchCommand out;
  out.words = spec.command(LaunchProcess::channel_of(request).string());
  out.variables = spec.variables;
  return out;
}

}  // namespace

ForegroundLaunch::ForegroundLaunch(const ForegroundSpec& spec, const Clock& clock,
                                   const Processes& processes, const Fs& disk)
    : name_(spec.name),
      clock_(clock),
      processes_(processes),
      disk_(disk),
      begun_(clock.now()),
      oom_kills_(processes.oom_kills_so_far()),
      process_(request(), direct_command(spec, request()), 0, clock),
      new_judge_(hang_limit(spec.hang), kBehindItsWatchdog),
      judge_(new_judge_) {}

LaunchRequest ForegroundLaunch::request() const {
  return {.plan = plan_,
          .attempt = 1,
          .gpus = {},
          .cores = {},
          .folder = scratch_.path(),
          .own_log = false,
          .disk = &disk_};
}

std::optional<ForegroundEnd> ForegroundLaunch::tick() {
  const double now = clock_.now();
  if (const std::optional<int> code = process_.poll()) {
    return ForegroundEnd{.code = *code,
                         .hung = hung_,
                         .cause = process_.cause(),
                         .seconds = now - begun_,
                         .oom_kills = processes_.oom_kills_so_far() - oom_kills_};
  }
  process_.news();
  const LifeSign sign = process_.life();
  const auto silent = judge_.observe(sign.beats, sign.phase, now - begun_);
  if (silent && !hung_ && !process_.can_report()) {
    judge_ = new_judge_;
    if (std::exchange(warned_, true)) return std::nullopt;
    log(LogLevel::Warning, fmt::format("{}: cannot be written, or has no space left: {} cannot "
                                       "report signs of life there, and is not judged by them; "
                                       "free some space, or set TMPDIR to another folder",
                                       scratch_.path().string(), name_));
  } else if (silent && !std::exchange(hung_, true)) {
    log(LogLevel::Error, fmt::format("no heartbeat from {} for {} in phase '{}' "
                                     "(resources.hang): killing it as hung",
                                     name_, clock_text(*silent), rule_of(sign.phase).name));
    process_.kill_hung();
  }
  return std::nullopt;
}

}  // namespace depthgrid
