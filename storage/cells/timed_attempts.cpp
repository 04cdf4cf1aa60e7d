#include "storage/cells/timed_attempts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace depthgrid {
namespace {

void add_once(std::vector<std::string>& to, std::string text) {
  if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
}

}  // namespace

std::map<CellId, std::vector<TimedAttempt>> timed_attempts(const TableReader& file,
                                                           const CellId& cell) {
  std::vector<const char*> names = {"attempt_device", "attempt_job", "job", "job_cells"};
  if (cell.empty()) names.push_back("attempt_cell");
  for (const char* const name : names) {
    if (!file.has(name)) return {};
  }
  const VariableColumn jobs = file.read("job"), cells = file.read("job_cells");
  std::map<std::string, std::int64_t> fused;
  for (std::size_t i = 0; i < jobs.items(); ++i) fused[jobs.text(i)] = cells.integer(i);
  const VariableColumn devices = file.read("attempt_device"), of = file.read("attempt_job");
  const VariableColumn owners = cell.empty() ? file.read("attempt_cell") : VariableColumn();
  std::map<CellId, std::vector<TimedAttempt>> out;
  for (std::size_t i = 0; i < devices.items(); ++i) {
    const std::string job = of.text(i);
    const auto known = fused.find(job);
    out[cell.empty() ? owners.text(i) : cell].push_back(
        {devices.text(i), job, known == fused.end() ? 1 : known->second});
  }
  return out;
}

std::string machines_text(const std::vector<TimedAttempt>& attempts) {
  std::vector<std::string> out;
  for (const auto& [device, job, fused] : attempts) {
    add_once(out, fmt::format("{}, {} cell{}", device, fused, fused == 1 ? "" : "s"));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::vector<std::string> attempt_jobs(const std::vector<TimedAttempt>& attempts) {
  std::vector<std::string> out;
  for (const TimedAttempt& attempt : attempts) {
    if (!attempt.job.empty()) add_once(out, attempt.job);
  }
  return out;
}

}  // namespace depthgrid
