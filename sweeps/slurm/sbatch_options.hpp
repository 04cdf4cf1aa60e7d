#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// Why an option of sbatch may not be given by a user: submit sets it itself, and a second one
/// would win. @return nothing for all others.
std::optional<std::string> own_option(std::string_view word);

/// The value of a variable of the environment; nothing if it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& variable)>;
/// That of this process.
EnvironmentLookup this_environment();

/// The same of variables that sbatch reads and prefers to what a script says. Those of which a
/// script may well say nothing, such as SBATCH_ACCOUNT, are the user's.
std::optional<std::string> own_variable(const EnvironmentLookup& environment);

/// An option whose value may stand in several places.
struct SbatchOption {
  std::string_view name, shortest, letter;  // "--partition", "--part", which sbatch takes, "-p"
  std::string_view variable, leaf;          // "" = none
};
inline constexpr SbatchOption kTimeOption{"--time", "--time", "-t", "SBATCH_TIMELIMIT",
                                          "resources.time"};
inline constexpr SbatchOption kTimeMinOption{"--time-min", "--time-", "", "", ""};
inline constexpr SbatchOption kPartitionOption{"--partition", "--part", "-p", "SBATCH_PARTITION",
                                               "slurm.partition"};
inline constexpr SbatchOption kQosOption{"--qos", "--qo", "-q", "SBATCH_QOS", "slurm.qos"};

/// What a user asks of sbatch.
struct SbatchRequest {
  const CellConfig& run;           // slurm.extra, and the leaves; outlives this
  std::vector<std::string> words;  // after --
  EnvironmentLookup environment = this_environment();

  /// The value that wins, and where it stands: sbatch prefers its command line (`words`) to the
  /// environment, that to the script, and of several there the last one. Both are "" without any.
  struct Value {
    std::string text, from;  // "2", "-t 2 after --"
  };
  Value value(const SbatchOption& option) const;

  /// Seconds after which a task may have to end: the time limit, or the least one (--time-min) to
  /// which Slurm may shorten it. 0 = not known, or no limit.
  std::int64_t time_seconds() const;
};

}  // namespace depthgrid
