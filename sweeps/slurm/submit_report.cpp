#include "sweeps/slurm/submit_report.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

using SubmitJson = nlohmann::ordered_json;

/// Cells that are left out, with the reason.
struct LeftOut {
  CellNeed need;
  std::string_view words;
};
constexpr LeftOut kLeftOut[] = {
    {CellNeed::Cancelled, "cancelled"},
    {CellNeed::Held, "trained by a run at work"},
    {CellNeed::Failed, "failed for good (depthgrid retry submits them again)"},
    {CellNeed::Waits, "waiting for cells that they start from"},
};

std::size_t cell_count(const Submission& submission) {
  std::size_t out = 0;
  for (const auto& task : submission.tasks) out += task.size();
  return out;
}

}  // namespace

std::string submit_json(const PreparedSubmission& prepared, const MissingCells& missing,
                        bool scripts, const std::string& answer) {
  SubmitJson arrays = SubmitJson::array();
  for (std::size_t i = 0; i < prepared.arrays.size(); ++i) {
    const SubmittedArray& array = prepared.submission.arrays[i];
    arrays.push_back({{"job", array.job},
                      {"tasks", array.tasks},
                      {"first", array.first},
                      {"ranks", array.ranks},
                      {"canary", array.canary}});
    if (scripts) {
      arrays.back()["script"] = batch_script(prepared.requests[i], prepared.arrays[i]);
    }
  }
  SubmitJson out{{"schema", 1},
                 {"submission", prepared.submission.arrays.empty() ? "" : prepared.submission.id},
                 {"cells", cell_count(prepared.submission)},
                 {"tasks", prepared.submission.tasks.size()},
                 {"done", missing.count(CellNeed::Done)},
                 {"queued", missing.count(CellNeed::Queued)},
                 {"cancelled", missing.count(CellNeed::Cancelled)},
                 {"failed", missing.count(CellNeed::Failed)},
                 {"held", missing.count(CellNeed::Held)},
                 {"waiting", missing.count(CellNeed::Waits)},
                 {"arrays", arrays}};
  if (!answer.empty()) out["sbatch"] = answer;
  return json_text(out, 2) + "\n";
}

std::string submit_text(const PreparedSubmission& prepared, const MissingCells& missing, bool dry) {
  const Submission& submission = prepared.submission;
  std::string out = fmt::format("{} cells done, {} in the queue or running",
                                missing.count(CellNeed::Done), missing.count(CellNeed::Queued));
  for (const auto& [need, words] : kLeftOut) {
    if (missing.count(need) > 0) out += fmt::format(", {} {}", missing.count(need), words);
  }
  if (submission.tasks.empty()) return out + "; nothing to submit\n";
  out += fmt::format("; {} cells in {} tasks {}\n", cell_count(submission), submission.tasks.size(),
                     dry ? "to submit" : "submitted");
  for (const SubmittedArray& array : submission.arrays) {
    out += fmt::format("  {}{}: {} tasks{}{}\n", array.canary ? "canary " : "array ",
                       array.job.empty() ? array.script : array.job, array.tasks,
                       array.ranks > 1 ? fmt::format(" of {} ranks", array.ranks) : "",
                       array.job.empty() ? "" : ", " + array.script);
  }
  return out;
}

}  // namespace depthgrid
