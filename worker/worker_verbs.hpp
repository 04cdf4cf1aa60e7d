#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace depthgrid {

/// How the order of a verb comes: one JSON object as argument, or by stdin. See
/// sweeps/orders/order_json.hpp.
enum class OrderFrom : std::uint8_t { Argument, Input };

/// A verb's call.
struct WorkerCall {
  std::string order;
  int argc = 0;  // of main(), for MPI
  char** argv = nullptr;
};

struct WorkerVerb {
  const char* name;
  OrderFrom from;
  int (*run)(const WorkerCall& call);  // returns the exit code; answers go to stdout
};

/// All verbs of the worker, as its usage shows them.
std::span<const WorkerVerb> worker_verbs();

/// What it prints when it is called in another way.
std::string worker_usage(std::span<const WorkerVerb> verbs);

/// Runs the verb that argv[1] names.
/// @return  its exit code; Usage, and the usage on stderr, for an unknown verb or without an order.
/// @throws  what the verb throws.
int dispatch(std::span<const WorkerVerb> verbs, int argc, char** argv, std::istream& input);

}  // namespace depthgrid
