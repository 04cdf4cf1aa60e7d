#include "sweeps/doctor/slurm_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.hpp"
#include "core/base/machine.hpp"
#include "core/base/text_parts.hpp"
#include "sweeps/launch/launcher.hpp"
#include "sweeps/slurm/slurm_text.hpp"

namespace depthgrid {
namespace {

constexpr double kController = 10;  // s within which it has to answer

std::string value_of(const SlurmFacts& facts, const char* key) {
  const auto at = facts.config.find(key);
  return at == facts.config.end() ? "" : at->second;
}

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
                                  value_of(facts, "MaxArraySize"), tasks)};
  if (tasks > 1) return out;
  return out.problem(
      "submit needs arrays: have MaxArraySize raised, or run `depthgrid supervise` in an "
      "allocation");
}

Finding mpi_finding(const SlurmFacts& facts) {
  Finding out{.what = "srun --mpi",
              .seen = fmt::format("{}; MpiDefault {}", fmt::join(facts.mpi, " "),
                                  value_of(facts, "MpiDefault"))};
  const bool pmix = std::ranges::any_of(
      facts.mpi, [](const std::string& kind) { return kind.starts_with("pmix"); });
  if (pmix) return out;
  return out.warning(
      "srun cannot start Open MPI's ranks without pmix: set resources.launcher: mpirun, or "
      "have Slurm's pmix plug-in installed");
}

Finding preemption_finding(const SlurmFacts& facts) {
  const std::string mode = value_of(facts, "PreemptMode");
  Finding out{.what = "preemption", .seen = mode.empty() ? "unknown" : mode};
  if (mode.find("CANCEL") != mode.npos) {
    return out.warning(
        "preempted tasks are not queued again by Slurm: repeat `depthgrid submit`, which "
        "submits what is missing");
  }
  if (mode.find("REQUEUE") != mode.npos &&
      value_of(facts, "SlurmctldParameters").find("preempt_send_user_signal") ==
          std::string::npos) {
    out.seen += ", without preempt_send_user_signal";
    out.cure =
        "a preempted task goes on from its last periodic checkpoint: "
        "checkpoint.every_seconds bounds what is done again";
  }
  return out;
}

}  // namespace

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
  const std::string accounting = value_of(facts, "AccountingStorageType");
  const bool none = accounting.empty() || accounting.find("none") != accounting.npos;
  const std::int64_t array_size = std::atoll(value_of(facts, "MaxArraySize").c_str());
  std::vector<Finding> out = {
      {.what = "Slurm",
       .seen = fmt::format("{}, answers in {:.2f} s", facts.version, facts.answer_seconds)},
      partitions_finding(facts.partitions),
      array_finding(facts),
      mpi_finding(facts),
      submit_limit_finding(facts.submit_limits, array_size),
      preemption_finding(facts),
      kill_wait_finding(value_of(facts, "KillWait"), signal_delay)};
  std::ranges::move(grace_findings(facts.graces, signal_delay), std::back_inserter(out));
  out.push_back({.what = "accounting",
                 .seen = none ? "none: sacct is empty, the store knows all the same" : accounting});
  return out;
}

}  // namespace depthgrid
