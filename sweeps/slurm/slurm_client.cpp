#include "sweeps/slurm/slurm_client.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/text_parts.hpp"

namespace depthgrid {
namespace {

constexpr int kTries = 3;  // of commands that signals may end

struct Cure {
  std::string_view message, cure;
};
constexpr std::string_view kTooMany =
    "as many tasks are in the queue as your account, its quality of service (MaxSubmitJobs) or the "
    "cluster (MaxJobCount) allows. What Slurm took is recorded: when some of it has ended, the "
    "same command submits the rest";
constexpr Cure kCures[] = {
    {"Invalid partition", "set slurm.partition to one that `sinfo` lists"},
    {"invalid account", "set slurm.account to one of yours"},
    {"Requested node configuration",
     "no node has so many cores, GPUs or so much memory: compare "
     "resources.* with `sinfo -N -o '%N %c %m %G'`"},
    {"Invalid generic resource",
     "the cluster has no such resource: see slurm.gres, resources.gpus"},
    {"Invalid job array",
     "the cluster takes no such array: compare MaxArraySize and max_array_tasks of "
     "`scontrol show config`"},
    // Before "time limit", which their text names, too.
    {"SubmitJob", kTooMany},
    {"job submit limit", kTooMany},
    {"MaxJobCount", kTooMany},
    {"time limit", "set resources.time below the partition's limit (`sinfo -o '%P %l'`)"},
    {"Unable to contact",
     "the controller does not answer; nothing was submitted that the queue "
     "does not show. Try again later"},
    {"unrecognized option", "an option in slurm.extra or after -- is unknown here"},
};

std::string cure_for(const std::string& message) {
  for (const Cure& cure : kCures) {
    if (message.find(cure.message) != message.npos) return fmt::format("\n{}", cure.cure);
  }
  return {};
}

/// Never empty: a command that a signal has ended says nothing.
std::string problem_of(const CommandAnswer& answer) {
  if (answer.late) return "Slurm does not answer";
  const std::string message = without_blanks(answer.err + answer.out);
  return message.empty() ? fmt::format("it ended with code {}", answer.code) : message;
}

/// What sbatch says where its request may have arrived, and the answer did not.
constexpr std::string_view kAnswerLost[] = {"timed out", "Unable to contact"};

bool may_have_arrived(const CommandAnswer& answer) {
  if (answer.late || answer.code > 128) return true;
  return answer.code != 0 && std::ranges::any_of(kAnswerLost, [&](std::string_view words) {
           return answer.err.find(words) != answer.err.npos;
         });
}

}  // namespace

CommandAnswer SlurmClient::answered(const std::vector<std::string>& command) const {
  CommandAnswer answer = run_(command, patience_);
  const std::string why = objection(command[0], answer);
  if (!why.empty()) throw UserError(ExitCode::BadConfig, why);
  return answer;
}

std::string SlurmClient::objection(const std::string& program, const CommandAnswer& answer) const {
  if (answer.code == 127) {
    return program + ": not found; this machine has no Slurm, or it is not in PATH";
  }
  if (answer.late) return fmt::format("{}: no answer within {:.0f} s", program, patience_);
  if (answer.code == 0) return {};
  return program + ": " + problem_of(answer) + cure_for(answer.err);
}

CommandAnswer SlurmClient::shown(const std::string& job) const {
  return run_({"scontrol", "-o", "show", "job", job}, patience_);
}

bool SlurmClient::present() const {
  return run_({"sbatch", "--version"}, patience_).code == 0;
}

std::int64_t SlurmClient::max_array_size() const {
  const CommandAnswer answer = answered({"scontrol", "show", "config"});
  const std::int64_t tasks = tasks_per_array(slurm_config(answer.out));
  if (tasks < 1) {
    throw UserError(ExitCode::BadConfig,
                    "this cluster takes no job arrays (`scontrol show config`: MaxArraySize or "
                    "max_array_tasks is 0): ask its administrator, or type depthgrid run inside "
                    "of an allocation");
  }
  return tasks;
}

std::vector<SlurmPartition> SlurmClient::partitions() const {
  const CommandAnswer answer = run_({"sinfo", "-h", "-o", kPartitionFormat}, patience_);
  return answer.code == 0 ? slurm_partitions(answer.out) : std::vector<SlurmPartition>{};
}

std::vector<std::string> SlurmClient::nodes() const {
  const CommandAnswer answer = run_({"sinfo", "-h", "-N", "-o", "%N"}, patience_);
  if (answer.code != 0) return {};
  const std::vector<std::string> names = text_words(answer.out);
  const std::set<std::string> each(names.begin(), names.end());  // of several partitions once
  return {each.begin(), each.end()};
}

std::string SlurmClient::submit(const std::string& script,
                                const std::vector<std::string>& words) const {
  std::vector<std::string> command = {"sbatch", "--parsable"};
  command.insert(command.end(), words.begin(), words.end());
  command.push_back(script);
  const CommandAnswer answer = run_(command, patience_);
  const std::string why = objection(command[0], answer);
  if (!why.empty() && may_have_arrived(answer)) throw UncertainSubmission(ExitCode::BadConfig, why);
  if (!why.empty()) throw UserError(ExitCode::BadConfig, why);
  const std::string job = submitted_job(answer.out);
  if (!job.empty()) return job;
  throw UncertainSubmission(ExitCode::TempFail,
                            fmt::format("sbatch has taken {}, and named no job:\n{}", script,
                                        without_blanks(answer.out)));
}

std::string SlurmClient::test(const std::string& script,
                              const std::vector<std::string>& words) const {
  std::vector<std::string> command = {"sbatch", "--test-only"};
  command.insert(command.end(), words.begin(), words.end());
  command.push_back(script);
  const CommandAnswer answer = answered(command);
  return without_blanks(answer.out + answer.err);
}

std::vector<QueuedTask> SlurmClient::queue() const {
  return queued_tasks(answered({"squeue", "-h", "-r", "--me", "-o", "%i|%T|%k|%r"}).out);
}

std::optional<double> SlurmClient::gpu_seconds(const std::vector<std::string>& arrays) const {
  const CommandAnswer answer = run_({"sacct", "-n", "-P", "-X", "-D", "-o", "ElapsedRaw,AllocTRES",
                                     "-j", fmt::format("{}", fmt::join(arrays, ","))},
                                    patience_);
  return answer.code == 0 ? std::optional(gpu_seconds_of(answer.out)) : std::nullopt;
}

std::string SlurmClient::requeue(const std::string& job) const {
  CommandAnswer answer;
  for (int i = 0; i < kTries; ++i) {
    answer = run_({"scontrol", "requeue", job}, patience_);
    if (answer.code == 0) return "";
    // Slurm ends the task's processes, this command among them, as soon as the task is in the
    // queue. A signal that came before the request has left the task as it was.
    const bool cut = answer.code == 128 + SIGTERM;
    if ((cut || i > 0) && !runs(job)) return "";
    if (!cut) break;
  }
  return problem_of(answer);
}

bool SlurmClient::runs(const std::string& job) const {
  for (int i = 0; i < kTries; ++i) {
    const CommandAnswer about = shown(job);
    if (about.code == 0) return about.out.find(" JobState=RUNNING") != about.out.npos;
  }
  return true;
}

std::vector<std::string> SlurmClient::left_out(const std::string& job) const {
  std::set<std::string> each;
  for (const ShownTask& task : shown_tasks(shown(job).out)) {
    if (!task.waits) continue;
    const std::vector<std::string> names = names_in(task.left_out);
    each.insert(names.begin(), names.end());
  }
  return {each.begin(), each.end()};
}

std::string SlurmClient::leave_out(const std::string& job,
                                   const std::vector<std::string>& nodes) const {
  const std::string wanted = fmt::format("{}", fmt::join(nodes, ","));
  const CommandAnswer answer =
      run_({"scontrol", "update", "jobid=" + job, "ExcNodeList=" + wanted}, patience_);
  // Of an array, scontrol objects to the tasks that run, and does what it can: what it shows
  // counts.
  const std::vector<ShownTask> tasks = shown_tasks(shown(job).out);
  const auto has = [&](const ShownTask& task) { return task.left_out == wanted; };
  const bool answered = answer.code == 0 && !answer.late;
  const auto differs = [&](const ShownTask& task) { return task.waits && !has(task); };
  const auto agrees = [&](const ShownTask& task) { return has(task) && (task.waits || answered); };
  if (std::ranges::none_of(tasks, differs) && std::ranges::any_of(tasks, agrees)) return "";
  return answered ? "the task does not show ExcNodeList=" + wanted : problem_of(answer);
}

bool SlurmClient::ending(const std::string& job) const {
  const CommandAnswer answer = shown(job);
  const auto has_state = [&](std::string_view state) {
    return answer.out.find(state) != answer.out.npos;
  };
  return has_state(" JobState=COMPLETING") || has_state(" JobState=CANCELLED");
}

std::string SlurmClient::cancel(const std::vector<std::string>& jobs) const {
  std::vector<std::string> command = {"scancel"};
  command.insert(command.end(), jobs.begin(), jobs.end());
  const CommandAnswer answer = run_(command, patience_);
  return answer.code == 0 ? "" : problem_of(answer);
}

std::int64_t restart_of_task() {
  const char* const count = std::getenv("SLURM_RESTART_COUNT");  // unset at the first start
  return count == nullptr ? 0 : std::atoll(count);
}

std::string this_task() {
  const char* const array = std::getenv("SLURM_ARRAY_JOB_ID");
  const char* const index = std::getenv("SLURM_ARRAY_TASK_ID");
  if (array != nullptr && index != nullptr) return std::string(array) + "_" + index;
  const char* const job = std::getenv("SLURM_JOB_ID");
  return job == nullptr ? "" : job;
}

}  // namespace depthgrid
