#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace depthgrid {

/// How a verb receives its command: one JSON object as argument, or on stdin. See
/// sweeps/protocol/commands.hpp.
enum class CommandFrom : std::uint8_t { Argument, Input };

/// A verb's call.
struct WorkerCall {
  std::string command;
  int argc = 0;  // of main(), for MPI
  char** argv = nullptr;
};

struct WorkerVerb {
  const char* name;
  CommandFrom from;
  int (*run)(const WorkerCall& call);  // returns the exit code; answers go to stdout
};

/// All verbs of the worker, in the order of its usage text.
std::span<const WorkerVerb> worker_verbs();

/// Printed if the worker is called in any other way.
std::string worker_usage(std::span<const WorkerVerb> verbs);

/// Runs the verb named by argv[1].
/// @return  its exit code; Usage, and the usage on stderr, for an unknown verb or without a
/// command.
/// @throws  what the verb throws.
int dispatch(std::span<const WorkerVerb> verbs, int argc, char** argv, std::istream& input);

}  // namespace depthgrid
