#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// Result of a child process.
struct ChildOutput {
  int code = 0;        // exit code, or 128 + signal
  std::string output;  // its stdout
};

/// Runs `argv`, writes `input` to its stdin and reads its stdout; stderr is inherited.
/// @throws Error if the program cannot be started.
ChildOutput pipe_child(const std::vector<std::string>& argv, std::string_view input);

}  // namespace depthgrid
