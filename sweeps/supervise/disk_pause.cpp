#include "sweeps/supervise/disk_pause.hpp"

#include <algorithm>
#include <array>

namespace depthgrid {
namespace {

constexpr double kTries = 30, kShortest = 1, kLongest = 60;
constexpr double kQuiet = 3;  // tries without a failure end the pause

/// As strerror() says them: ENOSPC, EDQUOT, EIO.
constexpr std::array<std::string_view, 3> kMayPass = {"No space left on device",
                                                      "Disk quota exceeded", "Input/output error"};

}  // namespace

DiskPause::DiskPause(double wait)
    : wait_(wait), every_(std::clamp(wait / kTries, kShortest, kLongest)) {}

bool DiskPause::on(double now) const noexcept {
  return since_ >= 0 && now - last_ < kQuiet * every_;
}

bool DiskPause::failed(std::string_view words, double now) {
  const bool passes = std::ranges::any_of(
      kMayPass, [&](std::string_view text) { return words.find(text) != words.npos; });
  if (!passes || wait_ <= 0) return false;
  if (!on(now)) since_ = now;
  last_ = now;
  tried(now);
  return now - since_ < wait_;
}

}  // namespace depthgrid
