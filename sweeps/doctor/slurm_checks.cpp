#include "sweeps/doctor/slurm_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.hpp"
#include "core/base/machine.hpp"
#include "core/base/text_parts.hpp"
#include "core/config/text_form.hpp"
#include "sweeps/launch/launcher.hpp"
#include "sweeps/slurm/slurm_text.hpp"

namespace depthgrid {
namespace {

constexpr double kController = 10;           // s within which it has to answer
constexpr std::int64_t kShortKillWait = 10;  // s; a checkpoint of a large job takes seconds

Finding partitions_finding(const std::vector<SlurmPartition>& partitions) {
  std::vector<std::string> seen;
  for (const SlurmPartition& p : partitions) {
    seen.push_back(fmt::format("{}{}: {} nodes of {} cores and {} GPUs, limit {}", p.name,
                               p.standard ? "*" : "", p.nodes, p.cores, p.gpus, p.limit));
  }
  Finding out{.what = "partitions", .seen = fmt::format("{}", fmt::join(seen, "; "))};
  if (!seen.empty()) return out;
  out.seen = "none that you may use";
  return out.problem("ask for an account on a partition (`sinfo`)");
}

Finding array_finding(const SlurmFacts& facts) {
  const std::int64_t tasks = tasks_per_array(facts.config);
  Finding out{.what = "job arrays",
              .seen = fmt::format("MaxArraySize {}: {} tasks per array",
                                  facts.value("MaxArraySize"), tasks)};
  if (tasks > 1) return out;
  return out.problem(
      "submit needs arrays: have MaxArraySize raised, or run `depthgrid supervise` in an "
      "allocation");
}

Finding mpi_finding(const SlurmFacts& facts) {
  Finding out{.what = "srun --mpi",
              .seen = fmt::format("{}; MpiDefault {}", fmt::join(facts.mpi, " "),
                                  facts.value("MpiDefault"))};
  if (facts.has_pmix()) return out;
  return out.warning(
      "srun cannot start Open MPI's ranks without pmix: set resources.launcher: mpirun, or "
      "have Slurm's pmix plug-in installed");
}

Finding preemption_finding(const SlurmFacts& facts) {
  const std::string mode = facts.value("PreemptMode");
  Finding out{.what = "preemption", .seen = mode.empty() ? "unknown" : mode};
  if (mode.find("CANCEL") != mode.npos) {
    return out.warning(
        "preempted tasks are not queued again by Slurm: repeat `depthgrid submit`, which "
        "submits what is missing");
  }
  if (mode.find("REQUEUE") != mode.npos &&
      facts.value("SlurmctldParameters").find("preempt_send_user_signal") == std::string::npos) {
    out.seen += ", without preempt_send_user_signal";
    out.cure =
        "a preempted task goes on from its last periodic checkpoint: "
        "checkpoint.every_seconds bounds what is done again";
  }
  return out;
}

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
  Finding out{.what = "submit limit", .seen = "none that Slurm reports"};
  if (!least) return out;
  out.seen = fmt::format("MaxSubmitJobs {}: tasks of yours in the queue", *least);
  if (*least >= array_size) return out;
  return out.warning(fmt::format(
      "sbatch refuses arrays that would exceed it: let tasks take more cells each (a longer "
      "resources.time, packing.cells_per_launch), so that a sweep has fewer than {} tasks",
      *least));
}

std::string SlurmFacts::value(const std::string& key) const {
  const auto at = config.find(key);
  return at == config.end() ? "" : at->second;
}

bool SlurmFacts::has_pmix() const {
  return std::ranges::any_of(mpi, [](const auto& kind) { return kind.starts_with("pmix"); });
}

std::optional<SlurmFacts> slurm_facts(const CommandRunner& run, std::vector<Finding>& problem) {
  const CommandAnswer version = run({"sbatch", "--version"}, kController);
  if (version.code == 127) {
    problem.push_back({.what = "Slurm", .seen = "not installed here: `submit` has nobody to ask"});
    return std::nullopt;
  }
  if (version.code != 0) {
    problem.push_back({"Slurm", FindingLevel::Warning, "sbatch: " + last_words(version),
                       "it is installed but knows no cluster: set SLURM_CONF; to try a submission "
                       "without a cluster, scripts/slurm/lab.sh starts a small one"});
    return std::nullopt;
  }
  SlurmFacts out;
  out.version = without_blanks(version.out);
  const Stopwatch clock;
  const CommandAnswer config = run({"scontrol", "show", "config"}, kController);
  out.answer_seconds = clock.seconds();
  if (config.code != 0) {
    problem.push_back(
        {"Slurm", FindingLevel::Problem,
         fmt::format("{}; its controller {}", out.version,
                     config.late ? fmt::format("does not answer in {:.0f} s", kController)
                                 : "says: " + last_words(config)),
         "wait until `scontrol ping` says UP; SLURM_CONF, and munge's clock and key, "
         "must be those of the cluster"});
    return std::nullopt;
  }
  out.config = slurm_config(config.out);
  const CommandAnswer mpi = run({"srun", "--mpi=list"}, kController);
  out.mpi = mpi_kinds(mpi.out + mpi.err);
  out.partitions = slurm_partitions(run({"sinfo", "-h", "-o", kPartitionFormat}, kController).out);
  out.graces = partition_graces(run({"scontrol", "show", "partition"}, kController).out);
  const CommandAnswer limits =
      run({"sacctmgr", "-nP", "show", "assoc", "user=" + user_name(), "format=MaxSubmitJobs"},
          kController);
  if (limits.code == 0) out.submit_limits = limits.out;
  return out;
}

std::vector<Finding> slurm_findings(const SlurmFacts& facts, std::int64_t signal_delay) {
  const std::string accounting = facts.value("AccountingStorageType");
  const bool none = accounting.empty() || accounting.find("none") != accounting.npos;
  const std::int64_t array_size = std::atoll(facts.value("MaxArraySize").c_str());
  std::vector<Finding> out = {
      {.what = "Slurm",
       .seen = fmt::format("{}, answers in {:.2f} s", facts.version, facts.answer_seconds)},
      partitions_finding(facts.partitions),
      array_finding(facts),
      mpi_finding(facts),
      submit_limit_finding(facts.submit_limits, array_size),
      preemption_finding(facts),
      kill_wait_finding(facts.value("KillWait"), signal_delay)};
  std::ranges::move(grace_findings(facts.graces, signal_delay), std::back_inserter(out));
  out.push_back({.what = "accounting",
                 .seen = none ? "none: sacct is empty, the store knows all the same" : accounting});
  return out;
}

}  // namespace depthgrid
