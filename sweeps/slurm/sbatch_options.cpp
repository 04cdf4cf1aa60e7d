#include "sweeps/slurm/sbatch_options.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "core/config/text_form.hpp"

namespace depthgrid {
namespace {

/// What scripts say and users may not say otherwise: an option of sbatch, its letter, and the
/// variable that sbatch reads for it.
struct OwnOption {
  std::string_view name, letter, variable, why;
  bool as_word = true;  // false: in a command line it is what somebody wants now
};
constexpr std::string_view kFound = "tasks are found in the queue by it";
constexpr std::string_view kTasks = "submit divides the cells among tasks";
constexpr std::string_view kLeaf = "resources.* says how large a task is";
constexpr std::string_view kOne = "one depthgrid on a node starts all others";
constexpr std::string_view kScript = "its place is in the store";
constexpr std::string_view kOrder = "canaries go first by it: slurm.dependency is for yours";
constexpr std::string_view kAnswer = "submit reads the answer";
constexpr std::string_view kBack = "slurm.requeue says whether tasks go back into the queue";
constexpr OwnOption kOwn[] = {
    {"--comment", "", "", kFound},
    {"--clusters", "-M", "SBATCH_CLUSTERS", "the queue is that of this cluster"},
    {"--array", "-a", "SBATCH_ARRAY_INX", kTasks},
    {"--wrap", "", "", kTasks},
    {"--nodes", "-N", "", kLeaf},
    {"--ntasks", "-n", "SBATCH_NTASKS", kOne},
    {"--ntasks-per-node", "", "SBATCH_NTASKS_PER_NODE", kOne},
    {"--ntasks-per-socket", "", "", kOne},
    {"--ntasks-per-gpu", "", "", kOne},
    {"--cpus-per-task", "-c", "", kLeaf},
    {"--exclude", "-x", "", "nodes at fault are left out by it: slurm.exclude is for yours"},
    {"--no-kill", "-k", "SBATCH_NO_KILL", "a task that has lost a node must end to be tried again"},
    {"--requeue", "", "SBATCH_REQUEUE", kBack, false},
    {"--no-requeue", "", "SBATCH_NO_REQUEUE", kBack, false},
    {"--dependency", "-d", "", kOrder},
    {"--kill-on-invalid-dep", "", "", kOrder},
    {"--signal", "", "SBATCH_SIGNAL", "checkpoints begin by it: slurm.signal_delay"},
    {"--output", "-o", "SBATCH_OUTPUT", kScript},
    {"--error", "-e", "SBATCH_ERROR", kScript},
    {"--chdir", "-D", "", kScript},
    {"--open-mode", "", "SBATCH_OPEN_MODE", kScript},
    {"--parsable", "", "", kAnswer},
    {"--quiet", "-Q", "", kAnswer},
    {"--wait", "-W", "SBATCH_WAIT", "submit reads the answer, and depthgrid status --watch waits"},
    {"--test-only", "", "", "depthgrid submit --test-only does it"},
};

/// The last value of an option among words: "--time=5", "-t5", or "-t" and "5".
std::optional<std::string> last_value(const SbatchOption& option,
                                      const std::vector<std::string>& words) {
  std::optional<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    const bool named = option.name.starts_with(name) && name.starts_with(option.shortest);
    if ((named || word == option.letter) && name.size() == word.size()) {
      if (i + 1 < words.size()) out = words[++i];
    } else if (named) {
      out = word.substr(name.size() + 1);
    } else if (!option.letter.empty() && word.starts_with(option.letter)) {
      out = word.substr(option.letter.size());
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> own_option(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  for (const OwnOption& own : kOwn) {
    if (!own.as_word) continue;
    const bool longer = name.size() > 2 && name.starts_with("--") && own.name.starts_with(name);
    if (longer || (!own.letter.empty() && word.starts_with(own.letter))) {
      return fmt::format("option '{}' of sbatch: {} is set by submit, since {}", word, own.name,
                         own.why);
    }
  }
  return std::nullopt;
}

EnvironmentLookup this_environment() {
  return [](const std::string& variable) -> std::optional<std::string> {
    const char* const value = std::getenv(variable.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::optional<std::string> own_variable(const EnvironmentLookup& environment) {
  for (const OwnOption& own : kOwn) {
    if (own.variable.empty() || !environment(std::string(own.variable))) continue;
    return fmt::format(
        "{} is set in the environment, and sbatch would take it in the place of {}, "
        "which submit sets, since {}",
        own.variable, own.name, own.why);
  }
  return std::nullopt;
}

SbatchRequest::Value SbatchRequest::value(const SbatchOption& option) const {
  if (const auto given = last_value(option, words)) {
    return {*given, fmt::format("{} after --", option.name)};
  }
  if (!option.variable.empty()) {
    const std::string variable(option.variable);
    if (const auto set = environment(variable); set && !set->empty()) return {*set, variable};
  }
  if (const auto given = last_value(option, run.words("slurm.extra"))) {
    return {*given, fmt::format("{} of slurm.extra", option.name)};
  }
  if (option.leaf.empty() || run.null(option.leaf)) return {};
  return {run.word(option.leaf), std::string(option.leaf)};
}

std::int64_t SbatchRequest::time_seconds() const {
  const std::int64_t most = seconds_of(value(kTimeOption).text).value_or(0);
  const std::int64_t least = seconds_of(value(kTimeMinOption).text).value_or(0);
  if (most < 1 || least < 1) return std::max(most, least);
  return std::min(most, least);
}

}  // namespace depthgrid
