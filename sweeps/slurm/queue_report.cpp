#include "sweeps/slurm/queue_report.hpp"

#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/report/table.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

constexpr double kAnswerSeconds = 5;  // s

/// The number that `text` begins with; 0 if there is none.
double number_at(std::string_view text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// Sum of elapsed seconds times GPUs over lines such as "3600|billing=8,gres/gpu=4,node=1".
double gpu_seconds_of(const std::string& text) {
  double out = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    constexpr std::string_view kGpus = "gres/gpu=";
    const std::size_t at = line.find(kGpus);
    if (bar == line.npos || at == line.npos) continue;
    out += number_at(line) * number_at(std::string_view(line).substr(at + kGpus.size()));
  }
  return out;
}

}  // namespace

QueueReport queue_report(const std::filesystem::path& store, const CommandRunner& run) {
  QueueReport out;
  const std::vector<Submission> ours = submissions(store);
  out.submitted = !ours.empty();
  if (!out.submitted) return out;
  std::map<std::pair<std::string, std::string>, QueueReport::Group> groups;
  try {
    for (const LiveTask& task : live_tasks(ours, SlurmClient(run, kAnswerSeconds).queue())) {
      const std::string& state = task.queued.state;
      const std::string reason = state == "RUNNING" ? "" : task.queued.reason;
      QueueReport::Group& group = groups[{state, reason}];
      group.state = state;
      group.reason = reason;
      ++group.tasks;
      group.cells += std::ssize(task.cells);
    }
  } catch (const UserError& problem) {
    out.problem = problem.what();
  }
  for (auto& [key, group] : groups) out.groups.push_back(std::move(group));

  std::set<std::string> jobs;
  for (const Submission& submission : ours) {
    for (const SubmittedArray& array : submission.arrays) {
      if (!array.job.empty()) jobs.insert(array.job);
    }
  }
  if (jobs.empty() || !out.problem.empty()) return out;
  const CommandAnswer accounts = run({"sacct", "-n", "-P", "-X", "-D", "-o", "ElapsedRaw,AllocTRES",
                                      "-j", fmt::format("{}", fmt::join(jobs, ","))},
                                     kAnswerSeconds);
  if (accounts.code == 0) out.gpu_seconds = gpu_seconds_of(accounts.out);
  return out;
}

QueueReport queue_report(const std::filesystem::path& store) {
  return queue_report(store, real_commands());
}

std::string queue_text(const QueueReport& report) {
  if (!report.submitted) return {};
  if (!report.problem.empty()) return "\nSlurm's queue is not known: " + report.problem + "\n";
  std::string out = "\nno task of this store is in Slurm's queue\n";
  if (!report.groups.empty()) {
    Table table{{{"in Slurm"}, {"tasks", Align::Right}, {"cells", Align::Right}, {"reason"}}, {}};
    for (const QueueReport::Group& group : report.groups) {
      table.rows.push_back(
          {group.state, std::to_string(group.tasks), std::to_string(group.cells), group.reason});
    }
    out = "\n" + text_of(table, Colour::No);
  }
  if (report.gpu_seconds && *report.gpu_seconds > 0) {
    out += fmt::format("{:.3g} GPU-hours allocated by Slurm\n", *report.gpu_seconds / 3600);
  }
  return out;
}

std::string queue_json(const QueueReport& report) {
  using Json = nlohmann::ordered_json;
  if (!report.submitted) return "null";
  Json tasks = Json::array();
  for (const QueueReport::Group& group : report.groups) {
    tasks.push_back({{"state", group.state},
                     {"reason", group.reason},
                     {"tasks", group.tasks},
                     {"cells", group.cells}});
  }
  Json out = {{"tasks", tasks}, {"problem", nullptr}, {"gpu_hours_allocated", nullptr}};
  if (!report.problem.empty()) out["problem"] = report.problem;
  if (report.gpu_seconds) out["gpu_hours_allocated"] = *report.gpu_seconds / 3600;
  return json_text(out);
}

}  // namespace depthgrid
