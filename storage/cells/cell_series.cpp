#include "storage/cells/cell_series.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

/// Device and number of fused cells of every attempt, each pair once.
std::string machines_of(const TableReader& reader) {
  for (const char* name : {"attempt_device", "attempt_job", "job", "job_cells"}) {
    if (!reader.has(name)) return {};
  }
  const VariableColumn jobs = reader.read("job"), cells = reader.read("job_cells");
  std::map<std::string, std::int64_t> fused;
  for (std::size_t i = 0; i < jobs.items(); ++i) fused[jobs.text(i)] = cells.integer(i);
  const VariableColumn devices = reader.read("attempt_device"), of = reader.read("attempt_job");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < devices.items(); ++i) {
    const auto at = fused.find(of.text(i));
    const std::int64_t n = at == fused.end() ? 1 : at->second;
    std::string text = fmt::format("{}, {} cell{}", devices.text(i), n, n == 1 ? "" : "s");
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

/// The fused jobs of every attempt, each once.
std::vector<std::string> jobs_of(const TableReader& reader) {
  std::vector<std::string> out;
  if (!reader.has("attempt_job")) return out;
  const VariableColumn jobs = reader.read("attempt_job");
  for (std::size_t i = 0; i < jobs.items(); ++i) {
    const std::string job(jobs.text(i));
    const bool known = !job.empty() && std::ranges::find(out, job) == out.end();
    if (known) out.push_back(job);
  }
  return out;
}

/// Seconds of training at each of these steps.
std::vector<double> seconds_at(const TableReader& reader, const std::vector<double>& steps) {
  std::vector<double> out(steps.size(), kNaN);
  if (!reader.has("train_wall_time") || !reader.has("step")) return out;
  const VariableColumn at = reader.read("step"), seconds = reader.read("train_wall_time");
  std::map<std::int64_t, double> by_step;
  for (std::size_t i = 0; i < std::min(at.items(), seconds.items()); ++i) {
    by_step[at.integer(i)] = seconds.number(i);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto step = static_cast<std::int64_t>(steps[i]);
    const auto found = by_step.find(step);
    if (found != by_step.end()) out[i] = found->second;
    if (step == 0) out[i] = 0;
  }
  return out;
}

}  // namespace

std::optional<CellSeries> read_cell_series(const std::filesystem::path& result, const CellId& id,
                                           const std::string& metric, const Fs& disk) {
  const std::size_t dot = metric.find('.');
  const std::string name = metric.substr(0, dot);
  const Variable* const variable = find_variable(name);
  if (variable == nullptr || !variable->dims.starts_with("cell, eval_step")) return std::nullopt;
  const std::vector<std::string> axes = axes_of(*variable);
  std::size_t label = 0, width = 1;
  if (axes.size() == 3) {
    const std::span<const std::string_view> labels = labels_of(dimension(axes.back()));
    label = label_index(labels, dot == metric.npos ? "" : metric.substr(dot + 1));
    width = labels.size();
    if (label >= width) return std::nullopt;
  } else if (dot != metric.npos) {
    return std::nullopt;
  }
  const TableReader reader = open_cell_file(result, id, "", disk);
  if (!reader.has(name) || !reader.has("eval_step")) return std::nullopt;
  const VariableColumn steps = reader.read("eval_step"), values = reader.read(name);
  CellSeries out;
  for (std::size_t i = 0; i < steps.items(); ++i) {
    const std::int64_t step = steps.integer(i);
    const bool ascends = out.steps.empty() || static_cast<double>(step) > out.steps.back();
    if (step < 0 || !ascends) continue;  // a place that no evaluation took
    out.steps.push_back(static_cast<double>(step));
    out.values.push_back(values.number(i * width + label));
  }
  out.seconds = seconds_at(reader, out.steps);
  out.machines = machines_of(reader);
  out.jobs = jobs_of(reader);
  return out;
}

}  // namespace depthgrid
