#include "sweeps/slurm/slurm_client.hpp"

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"

namespace depthgrid {
namespace {

constexpr int kTries = 3;  // of commands that signals may end

struct Cure {
  std::string_view said, cure;
};
constexpr std::string_view kTooMany =
    "as many tasks are in the queue as your account, its quality of service (MaxSubmitJobs) or the "
    "cluster (MaxJobCount) allows. What Slurm took is recorded: when some of it has ended, the "
    "same "
    "command submits the rest";
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

std::string cure_for(const std::string& said) {
  for (const Cure& cure : kCures) {
    if (said.find(cure.said) != said.npos) return fmt::format("\n{}", cure.cure);
  }
  return {};
}

/// Never empty: a command that a signal has ended says nothing.
std::string problem_of(const CommandAnswer& answer) {
  if (answer.late) return "Slurm does not answer";
  const std::string said = without_blanks(answer.err + answer.out);
  return said.empty() ? fmt::format("it ended with code {}", answer.code) : said;
}

/// The id in what `sbatch --parsable` prints, "123" or "123;cluster" in a line of its own, behind
/// whatever a site's plugin may say; the last one, or "".
std::string submitted_job(const std::string& text) {
  std::string out, line;
  for (std::istringstream lines(text); std::getline(lines, line);) {
    const std::string id = line.substr(0, line.find(';'));
    if (parse_number<std::uint64_t>(id)) out = id;
  }
  return out;
}

}  // namespace

CommandAnswer SlurmClient::asked(const std::vector<std::string>& command) const {
  CommandAnswer answer = run_(command, patience_);
  if (answer.code == 127) {
    throw UserError(ExitCode::BadConfig,
                    command[0] + ": not found; this machine has no Slurm, or it is not in PATH");
  }
  if (answer.late) {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("{}: no answer within {:.0f} s", command[0], patience_));
  }
  return answer;
}

CommandAnswer SlurmClient::shown(const std::string& job) const {
  return run_({"scontrol", "-o", "show", "job", job}, patience_);
}

bool SlurmClient::present() const {
  return run_({"sbatch", "--version"}, patience_).code == 0;
}

std::int64_t SlurmClient::max_array_size() const {
  const CommandAnswer answer = asked({"scontrol", "show", "config"});
  if (answer.code != 0) {
    throw UserError(ExitCode::BadConfig,
                    "scontrol show config: " + without_blanks(answer.err) + cure_for(answer.err));
  }
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

std::string SlurmClient::submit(const std::string& script,
                                const std::vector<std::string>& words) const {
  std::vector<std::string> command = {"sbatch", "--parsable"};
  command.insert(command.end(), words.begin(), words.end());
  command.push_back(script);
  const CommandAnswer answer = asked(command);
  if (answer.code != 0) {
    throw UserError(ExitCode::BadConfig,
                    "sbatch: " + without_blanks(answer.err) + cure_for(answer.err));
  }
  const std::string job = submitted_job(answer.out);
  if (!job.empty()) return job;
  throw UserError(ExitCode::TempFail,
                  fmt::format("sbatch has taken {}, and named no job:\n{}\nThe same command finds "
                              "it in the queue by its comment, and submits what is missing",
                              script, without_blanks(answer.out)));
}

std::string SlurmClient::test(const std::string& script,
                              const std::vector<std::string>& words) const {
  std::vector<std::string> command = {"sbatch", "--test-only"};
  command.insert(command.end(), words.begin(), words.end());
  command.push_back(script);
  const CommandAnswer answer = asked(command);
  if (answer.code != 0) {
    throw UserError(ExitCode::BadConfig,
                    "sbatch: " + without_blanks(answer.err) + cure_for(answer.err));
  }
  return without_blanks(answer.out + answer.err);
}

std::vector<QueuedTask> SlurmClient::queue() const {
  const CommandAnswer answer = asked({"squeue", "-h", "-r", "--me", "-o", "%i|%T|%k|%r"});
  if (answer.code != 0) {
    throw UserError(ExitCode::BadConfig,
                    "squeue: " + without_blanks(answer.err) + cure_for(answer.err));
  }
  return queued_tasks(answer.out);
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

std::string SlurmClient::leave_out(const std::string& job,
                                   const std::vector<std::string>& nodes) const {
  const std::string wanted = fmt::format("ExcNodeList={}", fmt::join(nodes, ","));
  const CommandAnswer answer = run_({"scontrol", "update", "jobid=" + job, wanted}, patience_);
  if (answer.code != 0 || answer.late) return problem_of(answer);
  const std::string about = shown(job).out + ' ';
  const bool there = about.find(' ' + wanted + ' ') != about.npos;
  return there ? "" : "the task does not show " + wanted;
}

bool SlurmClient::ending(const std::string& job) const {
  const CommandAnswer answer = shown(job);
  const auto says = [&](std::string_view state) {
    return answer.out.find(state) != answer.out.npos;
  };
  return says(" JobState=COMPLETING") || says(" JobState=CANCELLED");
}

std::string SlurmClient::cancel(const std::vector<std::string>& jobs) const {
  std::vector<std::string> command = {"scancel"};
  command.insert(command.end(), jobs.begin(), jobs.end());
  const CommandAnswer answer = asked(command);
  return answer.code == 0 ? "" : problem_of(answer);
}

std::vector<QueuedTask> queued_tasks(const std::string& text) {
  std::vector<QueuedTask> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> parts;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, '|');) parts.push_back(word);
    if (parts.size() < 4) continue;
    QueuedTask task{.job = parts[0],
                    .array = parts[0],
                    .index = 0,
                    .state = parts[1],
                    .comment = parts[2],
                    .reason = parts[3]};
    const std::size_t bar = task.job.find('_');
    if (bar != task.job.npos) {
      task.array = task.job.substr(0, bar);
      const char* const end = task.job.data() + task.job.size();
      if (std::from_chars(task.job.data() + bar + 1, end, task.index).ec != std::errc()) continue;
    }
    out.push_back(std::move(task));
  }
  return out;
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
