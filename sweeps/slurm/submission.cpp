#include "sweeps/slurm/submission.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_members.hpp"
#include "core/base/json_text.hpp"
#include "core/base/machine.hpp"
#include "core/base/text_parts.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using SubmissionJson = nlohmann::ordered_json;

using A = SubmittedArray;
constexpr auto kArrayMembers =
    json_members("script", &A::script, "comment", &A::comment, "first", &A::first, "tasks",
                 &A::tasks, "ranks", &A::ranks, "job", &A::job, "canary", &A::canary);

std::optional<Submission> submission_in(const fs::path& folder, const Fs& disk) {
  const auto j = parse_ordered_json_or_discard(loose_text(folder / "submission.json", 0, disk));
  try {
    Submission out;
    out.id = j.at("id");
    out.time = j.at("time");
    out.words = j.value("words", std::vector<std::string>{});
    for (const auto& array : j.at("arrays")) {
      take_members(array, out.arrays.emplace_back(), kArrayMembers, {"ranks"});
    }
    for (const std::string& line : text_lines(loose_text(folder / "tasks.txt", 0, disk))) {
      out.tasks.push_back(text_words(line));
    }
    return out;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> Submission::jobs() const {
  std::vector<std::string> out;
  for (const SubmittedArray& array : arrays) {
    if (!array.job.empty()) out.push_back(array.job);
  }
  return out;
}

fs::path submissions_folder(const fs::path& store) {
  return store / "submissions";
}

fs::path submission_folder(const fs::path& store, const std::string& id) {
  return submissions_folder(store) / id;
}

void keep_submission(const fs::path& store, const Submission& submission, const Fs& disk) {
  const fs::path folder = submission_folder(store, submission.id);
  make_folders(folder, disk);
  std::string lines;
  for (const auto& cells : submission.tasks) lines += fmt::format("{}\n", fmt::join(cells, " "));
  publish_once(folder / "tasks.txt", lines, disk);
  SubmissionJson arrays = SubmissionJson::array();
  for (const SubmittedArray& array : submission.arrays) {
    arrays.push_back(object_of<SubmissionJson>(array, kArrayMembers));
  }
  publish_replace(folder / "submission.json",
                  json_text(SubmissionJson{{"schema", 1},
                                           {"id", submission.id},
                                           {"time", submission.time},
                                           {"tasks", submission.tasks.size()},
                                           {"words", submission.words},
                                           {"arrays", arrays}},
                            1),
                  disk);
}

std::optional<Submission> submission_of(const fs::path& store, const std::string& id,
                                        const Fs& disk) {
  return submission_in(submission_folder(store, id), disk);
}

std::vector<Submission> submissions(const fs::path& store, const Fs& disk) {
  std::vector<Submission> out;
  for (const fs::path& folder : disk.entries(submissions_folder(store))) {
    if (auto one = submission_in(folder, disk)) out.push_back(std::move(*one));
  }
  std::ranges::sort(out, {}, [](const Submission& s) { return std::pair(s.time, s.id); });
  return out;
}

SweepEvent submitted_event(const Submission& submission) {
  SweepEvent out{.kind = SweepEventKind::Submitted,
                 .tasks = std::ssize(submission.tasks),
                 .submission = submission.id,
                 .jobs = submission.jobs(),
                 .user = user_name()};
  for (const auto& task : submission.tasks) out.cell_count += std::ssize(task);
  return out;
}

std::vector<LiveTask> live_tasks(const std::vector<Submission>& all,
                                 const std::vector<QueuedTask>& queue) {
  std::vector<LiveTask> out;
  for (const Submission& submission : all) {
    for (const SubmittedArray& array : submission.arrays) {
      for (const QueuedTask& queued : queue) {
        if (queued.comment != array.comment || queued.index >= array.tasks) continue;
        LiveTask task{.submission = submission.id,
                      .task = array.first + queued.index,
                      .queued = queued,
                      .cells = {},
                      .canary = array.canary};
        const auto at = static_cast<std::size_t>(task.task);
        if (at < submission.tasks.size()) task.cells = submission.tasks[at];
        out.push_back(std::move(task));
      }
    }
  }
  return out;
}

std::vector<std::string> needless_tasks(const std::vector<LiveTask>& live,
                                        const std::function<bool(const std::string& cell)>& named,
                                        const std::function<bool(const std::string& cell)>& over) {
  const auto idle = [&](const LiveTask& task) {
    return task.queued.waits() && !task.cells.empty() && std::ranges::all_of(task.cells, over);
  };
  const auto needless = [&](const LiveTask& task) {
    return idle(task) && std::ranges::any_of(task.cells, named);
  };
  std::set<std::string> left, kept;  // submissions with main tasks that leave the queue, or stay
  for (const LiveTask& task : live) {
    if (!task.canary) (needless(task) ? left : kept).insert(task.submission);
  }
  const auto leaves = [&](const LiveTask& task) {
    if (!task.canary) return needless(task);
    // One that was spared before goes with the last task that waited for it.
    const bool asked = needless(task) || left.contains(task.submission);
    return asked && idle(task) && !kept.contains(task.submission);
  };
  std::vector<std::string> out;
  for (const LiveTask& task : live) {
    if (leaves(task)) out.push_back(task.queued.job);
  }
  return out;
}

std::vector<std::string> doubled_tasks(const std::vector<LiveTask>& live,
                                       const std::string& submission) {
  std::set<std::string> others;
  for (const LiveTask& task : live) {
    if (task.submission != submission) others.insert(task.cells.begin(), task.cells.end());
  }
  std::vector<std::string> out;
  for (const LiveTask& task : live) {
    const bool doubled = std::ranges::all_of(
        task.cells, [&](const std::string& cell) { return others.contains(cell); });
    if (task.submission == submission && task.queued.waits() && doubled)
      out.push_back(task.queued.job);
  }
  return out;
}

std::vector<std::vector<std::string>> tasks_of(const std::vector<std::vector<std::string>>& jobs,
                                               const std::vector<double>& seconds, double limit,
                                               std::int64_t least) {
  std::vector<std::vector<std::string>> out;
  double filled = 0;
  std::int64_t held = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const bool joins =
        held > 0 && (held < least || filled + seconds[i] <= limit);  // NaN: only least
    if (!joins) {
      out.emplace_back();
      filled = 0;
      held = 0;
    }
    out.back().insert(out.back().end(), jobs[i].begin(), jobs[i].end());
    filled += seconds[i];
    ++held;
  }
  return out;
}

std::vector<std::int64_t> array_sizes(std::int64_t tasks, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (; tasks > 0; tasks -= most) out.push_back(std::min(tasks, most));
  return out;
}

}  // namespace depthgrid
