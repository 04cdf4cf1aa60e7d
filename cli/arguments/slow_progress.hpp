#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace depthgrid {

/// Lines on stderr of a command that takes longer than its user expects: the first after two
/// seconds, then one every five.
class SlowProgress {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// @param who   begins each line: a verb or a store. @param what  is counted, e.g. "cells read".
  SlowProgress(std::string who, std::string what, Time begin = std::chrono::steady_clock::now());

  /// The line to show now, "report: 1,200 of 10,000 cells read\n"; empty for none.
  std::string line_at(Time now, std::size_t done, std::size_t all);

  /// Shows it.
  void operator()(std::size_t done, std::size_t all);

 private:
  std::string who_, what_;
  Time next_;
};

}  // namespace depthgrid
