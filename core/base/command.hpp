#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/child_process.hpp"

namespace depthgrid {

/// A command that is asked through its standard input and answers on its standard output.
struct CommandQuestion {
  ChildSpec child;  // its stdin and stdout are pipes whatever this says; its stderr may be
  double seconds = std::numeric_limits<double>::infinity();           // after which it is killed
  std::size_t most_output = std::numeric_limits<std::size_t>::max();  // bytes; more: killed
  /// Asked several times a second; once it is true, the command is killed. It does not throw.
  std::function<bool()> stop = {};
};

struct CommandAnswer {
  int code = 0;           // exit code, or 128 + signal
  bool late = false;      // killed after its time
  std::string out;        // all that it wrote to stdout
  std::string err;        // the end of what it wrote to stderr, at most 128 KiB, if that was a pipe
  bool too_much = false;  // killed because it wrote more than it may
  bool stopped = false;   // killed because `stop` said so
  int by_signal = 0;      // the signal that ended it; 0 = it has an exit code
  bool took_input = false;  // all of it; false: it closed its standard input, or ended, before
};

/// Runs a command to its end, and writes to it while it is read: neither side waits for the other,
/// however much both have to say, and whichever speaks first. No SIGPIPE reaches this process if
/// the command does not read.
/// @throws as ChildProcess
CommandAnswer ask(const CommandQuestion& question, std::string_view input);

/// A question to one of our own programs: its messages go where this process's go, and it stays in
/// this process's group, so that a terminal stops and ends both.
CommandQuestion own_question(std::vector<std::string> command);

/// A question to a tool of the system, in the language of programs.
CommandQuestion tool_question(std::vector<std::string> command, double seconds);

}  // namespace depthgrid
