#include "storage/cells/cell_series.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/cells/timed_attempts.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

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
  const std::vector<TimedAttempt> attempts = timed_attempts(reader, id)[id];
  out.machines = machines_text(attempts);
  out.jobs = attempt_jobs(attempts);
  return out;
}

}  // namespace depthgrid
