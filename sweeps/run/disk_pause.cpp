#include "sweeps/run/disk_pause.hpp"

#include <algorithm>
#include <array>

namespace depthgrid {
namespace {

constexpr double kTries = 30, kShortest = 1, kLongest = 60;
constexpr double kQuiet = 3;  // tries without a failure end the pause

/// As strerror() says that a disk is full.
constexpr std::array<std::string_view, 2> kFull = {"No space left on device",
                                                   "Disk quota exceeded"};

/// A disk is full where that was said, or where a launch names no error of the system: on a full
/// disk it cannot write why it ended, either, and says nothing, or half of it.
bool means_full_disk(std::string_view words, bool whole) {
  const auto contains = [words](std::string_view text) { return words.find(text) != words.npos; };
  return std::ranges::any_of(kFull, contains) ||
         !(whole || contains("(errno ") || contains("errno = "));
}

}  // namespace

DiskPause::DiskPause(double wait)
    : wait_(wait), every_(std::clamp(wait / kTries, kShortest, kLongest)) {}

bool DiskPause::on(double now) const noexcept {
  return since_ >= 0 && now - last_ < kQuiet * every_;
}

bool DiskPause::failed(std::string_view words, double now, bool whole) {
  if (!means_full_disk(words, whole) || wait_ <= 0) return false;
  if (!on(now)) since_ = now;
  last_ = now;
  tried(now);
  return now - since_ < wait_;
}

}  // namespace depthgrid
