#include "storage/cells/cell_file.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/base/version.hpp"
#include "storage/cells/attempt_columns.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/columns/variables.hpp"
#include "storage/hdf5/h5_read.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Values of one variable before the lengths of all axes are known.
struct Values {
  std::vector<double> numbers;
  std::vector<std::int64_t> shape;  // over all axes but `cell`
};

std::string_view axis_of_kind(const std::string& kind) {
  if (kind == "train") return "step";
  if (kind == "eval") return "eval_step";
  if (kind == "probe") return "probe_step";
  if (kind == "cell") return "";
  throw Error("a journal has rows of the unknown kind '" + kind + "'");
}

bool is_joined(const std::string& axis) {
  return dimension(axis).kind == AxisKind::Joined;
}

/// Lengths of the axes behind `first`, of which at most one is not fixed: that one follows.
std::vector<std::int64_t> inner_shape(const Variable& v, std::size_t first, std::int64_t count) {
  const std::vector<std::string> axes = axes_of(v);
  std::vector<std::int64_t> out;
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = first; i < axes.size(); ++i) {
    const auto labels = static_cast<std::int64_t>(labels_of(dimension(axes[i])).size());
    if (labels == 0) open = static_cast<std::ptrdiff_t>(out.size());
    known *= std::max<std::int64_t>(1, labels);
    out.push_back(labels);
  }
  const bool fits = open < 0 ? count == known : count % known == 0;
  if (!fits) {
    throw Error("variable '" + std::string(v.name) + "' (" + std::string(v.dims) + ") got " +
                std::to_string(count) + " values");
  }
  if (open >= 0) out[static_cast<std::size_t>(open)] = count / known;
  return out;
}

/// Collects the variables of one cell by name, then lays them out.
class CellTable {
 public:
  explicit CellTable(ColumnTable& table) : table_(table) { table_.sizes["cell"] = 1; }

  /// Rows of one kind: series for "train", "eval" and "probe", numbers of the cell for "cell".
  void add_rows(const MergedRows& rows) {
    const std::string axis(axis_of_kind(rows.kind.name));
    const auto n = static_cast<std::int64_t>(rows.rows.size());
    if (n == 0) return;
    if (!axis.empty()) steps_[axis] = rows.rows.steps;
    for (const RowColumn& column : rows.kind.columns) {
      const Variable& v = known(column.variable);
      const std::vector<double> all = rows.column(column.variable);
      if (axis.empty()) {
        const auto last = all.end() - static_cast<std::ptrdiff_t>(column.count);
        set(v, std::vector<double>(last, all.end()));
        continue;
      }
      const std::vector<std::string> axes = axes_of(v);
      if (axes.size() < 2 || axes[1] != axis) {
        throw Error("variable '" + column.variable + "' is not recorded over " + axis);
      }
      Values values{.numbers = all, .shape = inner_shape(v, 2, column.count)};
      values.shape.insert(values.shape.begin(), n);
      values_[column.variable] = std::move(values);
    }
  }

  /// Numbers of the cell. Of a series, they are those of its first step.
  void set(const Variable& v, std::vector<double> numbers) {
    if (numbers.empty()) return;
    const std::vector<std::string> axes = axes_of(v);
    const bool series = axes.size() > 1 && is_joined(axes[1]);
    if (axes.empty() || axes[0] != "cell") {
      throw Error("variable '" + std::string(v.name) + "' does not belong to one cell");
    }
    if (series && !steps_.contains(axes[1])) return;  // no step has been recorded yet
    Values values{
        .numbers = {},
        .shape = inner_shape(v, series ? 2 : 1, static_cast<std::int64_t>(numbers.size()))};
    if (series) {
      const std::size_t rows = steps_[axes[1]].size();
      values.shape.insert(values.shape.begin(), static_cast<std::int64_t>(rows));
      values.numbers.assign(rows * numbers.size(), kNaN);
      std::ranges::copy(numbers, values.numbers.begin());
    } else {
      values.numbers = std::move(numbers);
    }
    values_[std::string(v.name)] = std::move(values);
  }
  void set(const std::string& name, std::vector<double> numbers) {
    set(known(name), std::move(numbers));
  }
  void set_default(const std::string& name, double number) {
    if (!values_.contains(name)) set(name, {number});
  }

  std::int64_t length(const std::string& axis) const {
    const auto at = steps_.find(axis);
    return at == steps_.end() ? 0 : static_cast<std::int64_t>(at->second.size());
  }
  std::int64_t last_step() const {
    const auto at = steps_.find("step");
    return at == steps_.end() ? 0 : at->second.back();
  }
  /// Length of an axis as some variable has it; 0 if none does.
  std::int64_t padded(const std::string& axis) const {
    std::int64_t out = 0;
    for (const auto& [name, values] : values_) {
      const std::vector<std::string> axes = axes_of(known(name));
      for (std::size_t i = 1; i < axes.size(); ++i) {
        if (axes[i] == axis) out = std::max(out, values.shape[i - 1]);
      }
    }
    return out;
  }

  /// Appends everything in the order of the table of variables; texts are cell-level facts.
  void finish(const std::map<std::string, std::string>& texts) {
    for (const auto& [axis, steps] : steps_) {
      table_.sizes[axis] = static_cast<std::int64_t>(steps.size());
      table_.columns.push_back(integer_column(axis, {axis}, DataType::Int64, steps));
      describe(table_.columns.back());
    }
    for (const auto& [name, values] : values_) {
      for (const std::string& axis : axes_of(known(name))) {
        if (axis != "cell" && !is_joined(axis)) table_.sizes[axis] = padded(axis);
      }
    }
    for (const Variable& v : variables()) {
      const auto text = texts.find(std::string(v.name));
      const auto numbers = values_.find(std::string(v.name));
      if (text != texts.end()) {
        table_.columns.push_back(text_column(text->first, axes_of(v), {&text->second, 1}));
      } else if (numbers != values_.end()) {
        table_.columns.push_back(laid_out(v, numbers->second));
      } else {
        continue;
      }
      describe(table_.columns.back());
    }
  }

 private:
  static const Variable& known(const std::string& name) {
    const Variable* v = find_variable(name);
    if (v == nullptr) throw Error("no variable is called '" + name + "'");
    return *v;
  }

  /// Pads every axis to the length that it has in this file.
  VariableColumn laid_out(const Variable& v, const Values& values) const {
    const std::vector<std::string> axes = axes_of(v);
    std::vector<std::size_t> strides(values.shape.size() + 1, 1);
    for (std::size_t i = values.shape.size(); i-- > 0;) {
      strides[i] = strides[i + 1] * static_cast<std::size_t>(table_.sizes.at(axes[i + 1]));
    }
    std::vector<double> padded_numbers(strides[0], kNaN);
    std::vector<std::size_t> index(values.shape.size(), 0);
    for (const double number : values.numbers) {
      std::size_t to = 0;
      for (std::size_t i = 0; i < index.size(); ++i) to += index[i] * strides[i + 1];
      padded_numbers[to] = number;
      for (std::size_t i = index.size(); i-- > 0;) {
        if (++index[i] < static_cast<std::size_t>(values.shape[i])) break;
        index[i] = 0;
      }
    }
    return number_column(std::string(v.name), axes, v.type, padded_numbers);
  }

  ColumnTable& table_;
  std::map<std::string, std::vector<std::int64_t>> steps_;
  std::map<std::string, Values> values_;
};

void add_root_attributes(ColumnTable& table, const CellFileInput& in, const std::string& format) {
  AttemptInfo newest;
  if (!in.history.attempts.empty()) newest = attempt_info(in.history.attempts.back().attempt_json);
  const std::string code = newest.code_version.empty() ? code_version() : newest.code_version;
  const std::string libraries =
      in.facts.library_versions.empty() ? newest.library_versions : in.facts.library_versions;
  table.attributes = sweep_attributes(in.sweep, format);
  const Attributes more = {
      {"coordinates", coordinate_names(identity_columns(in.sweep, {&in.plan, 1}))},
      {"config", resolved_json(in.sweep, in.plan)},
      {"code_version", code},
      {"code_dirty", std::int64_t{code.find("-dirty") != std::string::npos}},
      {"library_versions", libraries.empty() ? "{\"hdf5\":\"" + hdf5_version() + "\"}" : libraries},
      {"host", newest.host},
      {"environment", newest.environment},
      {"created", iso_utc(unix_time())}};
  table.attributes.insert(table.attributes.end(), more.begin(), more.end());
}

std::int64_t newest_generation(const CellHistory& history) {
  return history.attempts.empty() ? 0 : history.attempts.back().generation;
}

ColumnTable file_table(const CellFileInput& input, const std::string& format) {
  ColumnTable out = cell_table(input);
  add_root_attributes(out, input, format);
  return out;
}

}  // namespace

ColumnTable cell_table(const CellFileInput& in) {
  ColumnTable out = cell_records(in);
  std::vector<VariableColumn> identity = identity_columns(in.sweep, {&in.plan, 1});
  out.columns.insert(out.columns.begin(), std::make_move_iterator(identity.begin()),
                     std::make_move_iterator(identity.end()));
  return out;
}

ColumnTable cell_records(const CellFileInput& in) {
  ColumnTable out;
  CellTable cell(out);
  for (const MergedRows& rows : in.history.kinds) {
    if (rows.kind.name != "cell") cell.add_rows(rows);
  }
  if (const MergedRows* rows = in.history.find("cell")) cell.add_rows(*rows);
  for (const auto& [name, numbers] : in.facts.numbers) cell.set(name, numbers);
  cell.set("cell_status", {static_cast<double>(in.status)});
  cell.set("n_steps", {static_cast<double>(cell.length("step"))});
  cell.set("n_evals", {static_cast<double>(cell.length("eval_step"))});
  cell.set("n_probes", {static_cast<double>(cell.length("probe_step"))});
  cell.set("replayed_steps", {static_cast<double>(in.history.replayed_steps)});
  cell.set("replay_mismatches", {static_cast<double>(in.history.replay_mismatches)});
  for (const auto& [count, axis] : {std::pair{"n_depth", "depth"}, std::pair{"n_layer", "layer"},
                                    std::pair{"n_position", "token_position"}}) {
    if (cell.padded(axis) > 0) cell.set_default(count, static_cast<double>(cell.padded(axis)));
  }
  const bool final = in.status == CellStatus::Completed || in.status == CellStatus::Diverged;
  cell.set_default("stopped_at", final ? static_cast<double>(cell.last_step()) : -1);
  cell.set_default("diverged_at", -1);
  cell.finish(in.facts.texts);
  add_attempt_columns(out, in.plan.id, in.history, in.status);
  return out;
}

void publish_metrics(const fs::path& cell_dir, const CellFileInput& input) {
  const ColumnTable table = file_table(input, "depthgrid-metrics");
  TableWriter writer(cell_dir / "metrics.h5", table_bytes(table));
  write_table(writer, table);
  writer.replace(newest_generation(input.history));
}

bool publish_result(const fs::path& cell_dir, const CellFileInput& input) {
  const ColumnTable table = file_table(input, "depthgrid-result");
  TableWriter writer(cell_dir / "result.h5", table_bytes(table));
  write_table(writer, table);
  return writer.publish_once(newest_generation(input.history));
}

}  // namespace depthgrid
