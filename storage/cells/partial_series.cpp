#include "storage/cells/partial_series.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {

std::optional<CellSeries> read_partial_series(const std::filesystem::path& cell_dir,
                                              const std::string& metric, const Fs& disk) {
  const std::size_t dot = metric.find('.');
  const std::string name = metric.substr(0, dot);
  const Variable* const variable = find_variable(name);
  if (variable == nullptr || !variable->dims.starts_with("cell, eval_step")) return std::nullopt;
  std::size_t label = 0;
  const std::vector<std::string> axes = axes_of(*variable);
  if (axes.size() > 3 || (axes.size() == 3) != (dot != metric.npos)) return std::nullopt;
  if (axes.size() == 3) {
    label = label_index(labels_of(dimension(axes.back())), metric.substr(dot + 1));
  }
  const CellHistory history = read_history(cell_dir, disk);
  const MergedRows* const rows = history.find("eval");
  if (rows == nullptr) return std::nullopt;
  const auto column = std::ranges::find(rows->kind.columns, name, &RowColumn::variable);
  if (column == rows->kind.columns.end()) return std::nullopt;
  const auto width = static_cast<std::size_t>(column->count);
  if (label >= width) return std::nullopt;
  const std::vector<double> values = rows->column(name);
  CellSeries out;
  for (std::size_t i = 0; i < rows->rows.steps.size(); ++i) {
    out.steps.push_back(static_cast<double>(rows->rows.steps[i]));
    out.values.push_back(values[i * width + label]);
  }
  if (out.steps.empty()) return std::nullopt;
  out.seconds.assign(out.steps.size(), kNaN);
  return out;
}

}  // namespace depthgrid
