#include "storage/cells/cell_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

/// Series whose last step is a metric; loading the others would only slow down large listings.
constexpr std::array<std::string_view, 5> kLastStep = {
    "train_loss", "train_loss_total", "train_grad_norm", "train_tokens", "train_wall_time"};

bool is_metric(const Variable& v) {
  if (v.type == DataType::Text) return false;
  if (v.dims == "cell, step") return std::ranges::find(kLastStep, v.name) != kLastStep.end();
  if (v.dims == "cell, eval_step" || v.dims == "cell, eval_step, split") return true;
  if (v.dims == "cell, eval_step, eval_mode" || v.dims == "cell, eval_mode") {
    return v.name.find("loss") != v.name.npos || v.name.find("share") != v.name.npos;
  }
  if (v.dims == "cell, split") return true;
  constexpr std::array<std::string_view, 4> kStems = {"train_", "cost_", "predicted_", "replay"};
  return v.dims == "cell" && std::ranges::any_of(kStems, [&v](std::string_view stem) {
           return v.name.starts_with(stem);
         });
}

/// Number of items of a column per cell.
std::size_t items_of_cell(const ColumnTable& table, const VariableColumn& column) {
  return column.items() / static_cast<std::size_t>(table.sizes.find("cell")->second);
}

bool is_absent(const VariableColumn& column, double number) {
  const bool real = column.type == DataType::Float32 || column.type == DataType::Float64;
  return real ? std::isnan(number) : number == -1;
}

/// Index on the axis of the last row with any number; nothing if there is none.
std::optional<std::size_t> last_row(const ColumnTable& table, const VariableColumn& column,
                                    std::size_t row, std::size_t width) {
  const std::size_t items = items_of_cell(table, column);
  for (std::size_t i = items; i-- > 0;) {
    if (!is_absent(column, column.number(row * items + i))) return i / width;
  }
  return std::nullopt;
}

/// The last loss of a diverged cell is NaN, so counts, not losses, tell how far a cell got.
std::optional<std::size_t> last_on_axis(const ColumnTable& table, const std::string& axis,
                                        std::size_t row) {
  const VariableColumn* coordinate = table.find(axis);
  if (coordinate == nullptr) return std::nullopt;
  const char* counted = axis == "step" ? "train_tokens" : "eval_tokens";
  const char* measured = axis == "step" ? "train_loss" : "eval_loss";
  for (const char* name : {counted, measured}) {
    const VariableColumn* column = table.find(name);
    if (column == nullptr) continue;
    const std::size_t width = items_of_cell(table, *column) / coordinate->items();
    if (const auto out = last_row(table, *column, row, width)) return out;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> metric_variables() {
  std::vector<std::string> out;
  for (const Variable& v : variables()) {
    if (is_metric(v)) out.emplace_back(v.name);
  }
  return out;
}

std::map<std::string, double> cell_metrics(const ColumnTable& table, std::size_t row) {
  std::map<std::string, double> out;
  const std::optional<std::size_t> step = last_on_axis(table, "step", row);
  const std::optional<std::size_t> evaluation = last_on_axis(table, "eval_step", row);
  for (const Variable& v : variables()) {
    const VariableColumn* column = is_metric(v) ? table.find(v.name) : nullptr;
    if (column == nullptr) continue;
    const std::span<const std::string_view> labels = labels_of(dimension(axes_of(v).back()));
    const std::size_t width = std::max<std::size_t>(1, labels.size());
    std::size_t first = row * items_of_cell(table, *column);
    if (v.dims.starts_with("cell, step")) {
      if (!step) continue;
      first += *step;
    } else if (v.dims.starts_with("cell, eval_step")) {
      if (!evaluation) continue;
      first += *evaluation * width;
    }
    for (std::size_t i = 0; i < width; ++i) {
      const double number = column->number(first + i);
      if (is_absent(*column, number)) continue;
      const std::string name(v.name);
      out[labels.empty() ? name : name + "." + std::string(labels[i])] = number;
    }
  }
  return out;
}

std::int64_t last_step(const ColumnTable& table, std::size_t row) {
  const std::int64_t stopped = cell_integer(table, "stopped_at", row, -1);
  if (stopped >= 0) return stopped;
  const std::optional<std::size_t> at = last_on_axis(table, "step", row);
  return at ? table.find("step")->integer(*at) : 0;
}

std::int64_t cell_integer(const ColumnTable& table, std::string_view name, std::size_t row,
                          std::int64_t absent) {
  const VariableColumn* column = table.find(name);
  return column == nullptr || column->items() <= row ? absent : column->integer(row);
}

}  // namespace depthgrid
