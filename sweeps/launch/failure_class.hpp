#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace depthgrid {

/// How a launch ended.
enum class LaunchEnd : std::uint8_t {
  Done,            // its cells have results, or reports of their failure
  Stopped,         // by a signal, with a checkpoint
  Crash,           // a fault of the process itself, such as SIGSEGV
  Error,           // that the process has reported: the same again is expected
  Killed,          // from outside: SIGKILL, or the launcher was killed
  Hang,            // no progress within the watchdog's limit
  OutOfMemory,     // the system or the device had no more
  Disk,            // the store cannot be written
  Infrastructure,  // the node, a card or the network
  Refused          // a configuration or input that every launch would refuse
};

std::string_view name_of(LaunchEnd end) noexcept;
/// The end of such a word; nothing for other classes of failure reports, such as "cancelled".
std::optional<LaunchEnd> launch_end_named(std::string_view word) noexcept;

/// "killed (signal 9, Killed)", "hang (exit code 76)". @param code  as of end_of()
std::string end_text(LaunchEnd end, int code);

/// What follows from an end.
struct EndPolicy {
  LaunchEnd end;
  std::string_view budget;  // leaf with the number of retries without progress; "" = not limited
  bool charged;             // counts for the circuit breaker
  bool waits;               // the next try waits, longer each time
  bool ends_run;            // nothing more is started
};

const EndPolicy& policy_of(LaunchEnd end);

/// @param code  exit code of a worker or its launcher, or 128 + signal.
/// @param tail  the end of its output; texts of the driver and of NCCL name the infrastructure.
/// @param oom_kills  processes that the system killed for their memory during the launch.
LaunchEnd end_of(int code, std::string_view tail, std::int64_t oom_kills);

/// What a rank says first when memory runs out; its peak in MB follows.
inline constexpr std::string_view kOutOfMemoryWords = "out of memory; peak of this rank ";

/// Whether a text has words by which drivers, NCCL and the libraries above them name a fault of a
/// card, a driver or a connection.
bool names_the_node(std::string_view text);

}  // namespace depthgrid
