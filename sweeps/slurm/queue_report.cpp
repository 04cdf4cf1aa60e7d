#include "sweeps/slurm/queue_report.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "sweeps/live/live_text.hpp"
#include "sweeps/report/table.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

std::vector<QueueReport::Group> groups_of(const std::vector<LiveTask>& tasks) {
  std::map<std::pair<std::string, std::string>, QueueReport::Group> groups;
  for (const LiveTask& task : tasks) {
    const std::string& state = task.queued.state;
    const std::string reason = state == "RUNNING" ? "" : task.queued.reason;
    QueueReport::Group& group = groups[{state, reason}];
    group.state = state;
    group.reason = reason;
    ++group.tasks;
    group.cells += std::ssize(task.cells);
  }
  std::vector<QueueReport::Group> out;
  for (auto& [key, group] : groups) out.push_back(std::move(group));
  return out;
}

std::vector<std::string> arrays_of(const std::vector<Submission>& all) {
  std::set<std::string> out;
  for (const Submission& submission : all) {
    std::ranges::move(submission.jobs(), std::inserter(out, out.end()));
  }
  return {out.begin(), out.end()};
}

}  // namespace

QueueReport QueueWatch::report(const std::filesystem::path& store) {
  QueueReport out;
  const std::vector<Submission> ours = submissions(store);
  out.submitted = !ours.empty();
  if (!out.submitted) return out;
  const double now = now_();
  if (!asked_ || now - *asked_ >= kQueueEvery) {
    asked_ = now;
    queue_.clear();
    problem_.clear();
    try {
      queue_ = scheduler_.queue();
    } catch (const UserError& problem) {
      problem_ = problem.what();
    }
  }
  const std::vector<std::string> arrays = arrays_of(ours);
  if (!arrays.empty() && problem_.empty() && (!counted_ || now - *counted_ >= kAccountsEvery)) {
    counted_ = now;
    gpu_seconds_ = scheduler_.gpu_seconds(arrays);
  }
  out.groups = groups_of(live_tasks(ours, queue_));
  out.problem = problem_;
  out.gpu_seconds = gpu_seconds_;
  out.age = now - *asked_;
  return out;
}

std::string queue_text(const QueueReport& report) {
  if (!report.submitted) return {};
  const std::string age =
      report.age < 1 ? "" : fmt::format("(Slurm was asked {} ago)\n", clock_text(report.age));
  if (!report.problem.empty()) {
    return "\nSlurm's queue is not known: " + report.problem + "\n" + age;
  }
  std::string out = "\nno task of this store is in Slurm's queue\n";
  if (!report.groups.empty()) {
    Table table{{{"in Slurm"}, {"tasks", Align::Right}, {"cells", Align::Right}, {"reason"}}, {}};
    for (const QueueReport::Group& group : report.groups) {
      table.rows.push_back(
          {group.state, std::to_string(group.tasks), std::to_string(group.cells), group.reason});
    }
    out = "\n" + text_of(table, Colour::No);
  }
  out += age;
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
  const Json hours = report.gpu_seconds ? Json(*report.gpu_seconds / 3600) : Json();
  return json_text(Json{{"tasks", tasks},
                        {"problem", report.problem.empty() ? Json() : Json(report.problem)},
                        {"gpu_hours_allocated", hours},
                        {"age_seconds", report.age}});
}

}  // namespace depthgrid
