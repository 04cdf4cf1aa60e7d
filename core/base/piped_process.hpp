#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// A command that is asked through its standard input and answers on its standard output.
struct PipedCommand {
  std::vector<std::string> argv;  // the program, by path or by name in PATH; no shell
  double seconds = std::numeric_limits<double>::infinity();           // after which it is killed
  std::size_t most_output = std::numeric_limits<std::size_t>::max();  // bytes; more: killed
  /// Asked several times a second; once it is true, the command is killed. It does not throw.
  std::function<bool()> stop = {};
};

/// How a command came to its end.
enum class PipedEnd : std::uint8_t {
  Itself,   // by its exit code or by a signal that is not ours
  Late,     // killed after its time
  TooMuch,  // killed because it wrote more than it may
  Stopped   // killed because `stop` said so
};

struct PipedAnswer {
  PipedEnd end = PipedEnd::Itself;
  int code = 0;             // exit code, or 128 + signal
  int by_signal = 0;        // the signal that ended it; 0 = it has an exit code
  bool took_input = false;  // all of it; false: it closed its standard input, or ended, before
  std::string out;          // all that it wrote to stdout
  std::string err;          // the end of what it wrote to stderr, at most 128 KiB
};

/// Runs a command to its end, and writes to it while it is read: neither side waits for the other,
/// however much both have to say, and whichever speaks first.
///
/// Unlike answer_of() it is made for inputs of many megabytes: it leaves the command's language
/// alone, and no SIGPIPE reaches this process if the command does not read. The command leads a
/// process group of its own, is no rank of a launcher, and gets TERM if this process dies; what is
/// left of its group when it ends is killed.
/// @throws Error if the program cannot be started.
PipedAnswer piped_answer(const PipedCommand& command, std::string_view input);

}  // namespace depthgrid
