#pragma once

#include <string_view>

namespace depthgrid {

/// What a supervisor does while its store's disk is full: it waits, tries one launch from time to
/// time, and gives up in the end. Pure: time comes from outside, in s on a monotonic clock.
class DiskPause {
 public:
  /// @param wait  s, leaf retry.disk_wait; 0: never waits.
  explicit DiskPause(double wait);

  /// Something could not be written. @param words  what was said of it, which may be nothing where
  /// there is no space for words: what is forbidden or impossible is not waited for.
  /// @param whole  they are the words of an error of this process: a full disk is named in them.
  /// @return false if there is nothing to wait for, or no longer.
  bool failed(std::string_view words, double now, bool whole = false);

  /// Whether the disk has been full a short while ago.
  bool on(double now) const noexcept;

  /// Whether nothing may start now.
  bool holds(double now) const noexcept { return on(now) && now < next_; }

  /// One launch has been started in spite of the pause: no other one for a while.
  void tried(double now) noexcept { next_ = now + every_; }

  /// A launch got on: the disk has space again.
  void over() noexcept { since_ = -1; }

  /// s between two tries.
  double every() const noexcept { return every_; }

 private:
  double wait_, every_;
  double since_ = -1, last_ = 0, next_ = 0;  // first and newest failure of this pause; next try
};

}  // namespace depthgrid
