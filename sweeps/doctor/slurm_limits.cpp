#include "sweeps/doctor/slurm_limits.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "core/base/text_parts.hpp"
#include "core/config/text_form.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kShortKillWait = 10;  // s; a checkpoint of a large job takes seconds

/// The value of `key=` among the words of a text; empty if it is not there.
std::string word_after(const std::string& text, const std::string& key) {
  for (const std::string& word : text_words(text)) {
    if (word.starts_with(key)) return word.substr(key.size());
  }
  return {};
}

/// Slurm writes times of partitions as H:MM:SS, or as seconds.
std::int64_t grace_seconds(const std::string& text) {
  const auto time = text.find(':') == text.npos ? std::nullopt : seconds_of(text);
  return time ? *time : std::atoll(text.c_str());
}

}  // namespace

std::vector<PartitionGrace> partition_graces(const std::string& text) {
  constexpr std::string_view kBegin = "PartitionName=";
  std::vector<PartitionGrace> out;
  for (std::size_t at = text.find(kBegin); at != text.npos;) {
    const std::size_t next = text.find(kBegin, at + 1);
    const std::string part = text.substr(at, next == text.npos ? next : next - at);
    out.push_back({.name = word_after(part, std::string(kBegin)),
                   .preempt_mode = word_after(part, "PreemptMode="),
                   .grace = grace_seconds(word_after(part, "GraceTime="))});
    at = next;
  }
  return out;
}

Finding kill_wait_finding(const std::string& kill_wait, std::int64_t signal_delay) {
  Finding out{.what = "KillWait", .seen = "unknown"};
  if (kill_wait.empty()) return out;
  const std::int64_t seconds = std::atoll(kill_wait.c_str());
  out.seen = fmt::format(
      "{} s from TERM to KILL; at the time limit checkpoints begin {} s before "
      "(slurm.signal_delay)",
      seconds, signal_delay);
  if (seconds >= kShortKillWait) return out;
  return out.warning(
      "a task that scancel ends may be killed before its checkpoints are written: have KillWait "
      "raised to 30 s, or bound what is done again by checkpoint.every_seconds");
}

std::vector<Finding> grace_findings(const std::vector<PartitionGrace>& partitions,
                                    std::int64_t signal_delay) {
  std::vector<Finding> out;
  for (const PartitionGrace& partition : partitions) {
    if (partition.preempt_mode.empty() || partition.preempt_mode.starts_with("OFF")) continue;
    Finding finding{.what = "GraceTime of " + partition.name,
                    .seen = fmt::format("{} s before a preempted task is killed ({})",
                                        partition.grace, partition.preempt_mode)};
    if (partition.grace < signal_delay) {
      finding = finding.warning(fmt::format(
          "checkpoints may need slurm.signal_delay ({} s): have GraceTime raised to it; else a "
          "preempted task may go on from its last periodic checkpoint (checkpoint.every_seconds)",
          signal_delay));
    }
    out.push_back(finding);
  }
  return out;
}

Finding submit_limit_finding(const std::string& lines, std::int64_t array_size) {
  std::optional<std::int64_t> least;
  for (const std::string& line : text_lines(lines)) {
    const std::int64_t limit = std::atoll(line.c_str());
    if (limit > 0) least = std::min(least.value_or(limit), limit);
  }
  Finding out{.what = "submit limit", .seen = "none that Slurm tells"};
  if (!least) return out;
  out.seen = fmt::format("MaxSubmitJobs {}: tasks of yours in the queue", *least);
  if (*least >= array_size) return out;
  return out.warning(fmt::format(
      "sbatch refuses arrays that would exceed it: let tasks take more cells each (a longer "
      "resources.time, packing.cells_per_launch), so that a sweep has fewer than {} tasks",
      *least));
}

}  // namespace depthgrid
