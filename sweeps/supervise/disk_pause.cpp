#include "sweeps/supervise/disk_pause.hpp"

#include <algorithm>
#include <array>

namespace depthgrid {
namespace {

constexpr double kTries = 30, kShortest = 1, kLongest = 60;
constexpr double kQuiet = 3;  // tries without a failure end the pause

/// As strerror() says what does not pass by itself. A list of what does pass would not do: on a
/// full disk a launch cannot write why it ended, either, and says nothing, or half of it.
constexpr std::array<std::string_view, 6> kStays = {
    "Permission denied", "Operation not permitted", "Read-only file system",
    "Not a directory",   "Is a directory",          "File name too long"};

}  // namespace

DiskPause::DiskPause(double wait)
    : wait_(wait), every_(std::clamp(wait / kTries, kShortest, kLongest)) {}

bool DiskPause::on(double now) const noexcept {
  return since_ >= 0 && now - last_ < kQuiet * every_;
}

bool DiskPause::failed(std::string_view words, double now) {
  const bool stays = std::ranges::any_of(
      kStays, [&](std::string_view text) { return words.find(text) != words.npos; });
  if (stays || wait_ <= 0) return false;
  if (!on(now)) since_ = now;
  last_ = now;
  tried(now);
  return now - since_ < wait_;
}

}  // namespace depthgrid
