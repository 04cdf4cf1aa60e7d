#include "storage/cells/cell_file.hpp"

#include <iterator>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/base/version.hpp"
#include "storage/cells/attempt_columns.hpp"
#include "storage/cells/former_bits.hpp"
#include "storage/cells/mask_churn.hpp"
#include "storage/cells/row_layout.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

bool is_joined(const std::string& axis) {
  return dimension(axis).kind == AxisKind::Joined;
}

/// Collects the variables of one cell by name, then puts them in the order of the table.
class CellTable {
 public:
  CellTable(ColumnTable& table, const CellFileInput& in) : table_(table) {
    table_.sizes["cell"] = 1;
    for (const RowAxis& axis : in.history.axes) axes_.give(axis);
    for (const RowAxis& axis : in.facts.axes) axes_.give(axis);
  }

  /// Adds rows of one kind: series for "train", "eval" and "probe", numbers of the cell for "cell".
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
      axes_.shape(v, 2, column.count);
      values_[column.variable] = all;
    }
  }

  /// Adds a series that is not recorded but follows from one that is.
  void add_series(std::string_view name, std::vector<double> numbers) {
    const Variable& v = known(std::string(name));
    const auto steps = steps_.at(axes_of(v).at(1)).size();
    axes_.shape(v, 2, static_cast<std::int64_t>(numbers.size() / steps));
    values_[std::string(name)] = std::move(numbers);
  }

  /// Adds numbers of the cell; for a series, they belong to its first step.
  void set(const Variable& v, std::vector<double> numbers) {
    if (numbers.empty()) return;
    const std::vector<std::string> axes = axes_of(v);
    const bool series = axes.size() > 1 && is_joined(axes[1]);
    if (axes.empty() || axes[0] != "cell") {
      throw Error("variable '" + std::string(v.name) + "' does not belong to one cell");
    }
    if (series && !steps_.contains(axes[1])) return;  // no step has been recorded yet
    axes_.shape(v, series ? 2 : 1, static_cast<std::int64_t>(numbers.size()));
    if (series) numbers.resize(steps_[axes[1]].size() * numbers.size(), kNaN);
    values_[std::string(v.name)] = std::move(numbers);
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
  std::int64_t open_length(const std::string& axis) const { return axes_.used(axis); }

  /// Appends everything in the order of the table of variables; texts are cell-level facts.
  void finish(const std::map<std::string, std::string>& texts) {
    for (const auto& [axis, steps] : steps_) {
      table_.sizes[axis] = static_cast<std::int64_t>(steps.size());
      table_.columns.push_back(integer_column(axis, {axis}, DataType::Int64, steps));
      describe(table_.columns.back());
    }
    axes_.add_to(table_);
    for (const Variable& v : variables()) {
      const auto text = texts.find(std::string(v.name));
      const auto numbers = values_.find(std::string(v.name));
      if (text != texts.end()) {
        table_.columns.push_back(text_column(text->first, axes_of(v), {&text->second, 1}));
      } else if (numbers != values_.end()) {
        table_.columns.push_back(
            number_column(numbers->first, axes_of(v), v.type, numbers->second));
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

  ColumnTable& table_;
  std::map<std::string, std::vector<std::int64_t>> steps_;
  std::map<std::string, std::vector<double>> values_;
  CellAxes axes_;
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
  CellTable cell(out, in);
  for (const MergedRows& rows : in.history.kinds) {
    if (rows.kind.name != "cell") cell.add_rows(rows);
  }
  if (const MergedRows* rows = in.history.find("cell")) cell.add_rows(*rows);
  const MergedRows* probes = in.history.find("probe");
  if (probes != nullptr && probes->rows.size() > 0) {
    for (MaskChurn& churn : mask_churns(*probes, in.history.axes)) {
      cell.add_series(churn.variable, std::move(churn.numbers));
    }
  }
  for (const auto& [name, numbers] : in.facts.numbers) cell.set(name, numbers);
  cell.set("cell_status", {static_cast<double>(in.status)});
  cell.set("n_steps", {static_cast<double>(cell.length("step"))});
  cell.set("n_evals", {static_cast<double>(cell.length("eval_step"))});
  cell.set("n_probes", {static_cast<double>(cell.length("probe_step"))});
  cell.set("replayed_steps", {static_cast<double>(in.history.replayed_steps)});
  cell.set("replay_mismatches", {static_cast<double>(in.history.replay_mismatches)});
  for (const auto& [count, axis] : {std::pair{"n_depth", "depth"}, std::pair{"n_layer", "layer"},
                                    std::pair{"n_position", "token_position"}}) {
    const std::int64_t length = cell.open_length(axis);
    if (length > 0) cell.set_default(count, static_cast<double>(length));
  }
  const bool final = in.status == CellStatus::Completed || in.status == CellStatus::Diverged;
  cell.set_default("stopped_at", final ? static_cast<double>(cell.last_step()) : -1);
  cell.set_default("diverged_at", -1);
  cell.finish(in.facts.texts);
  add_attempt_columns(out, in.plan.id, in.history, in.status);
  if (has_kept_bytes(out)) withhold_former_bits(out, in.sweep, in.plan);
  return out;
}

void publish_metrics(const fs::path& cell_dir, const CellFileInput& input, const Fs& disk) {
  const ColumnTable table = file_table(input, "depthgrid-metrics");
  TableWriter writer(cell_dir / "metrics.h5", table_bytes(table), disk);
  write_table(writer, table);
  writer.replace(newest_generation(input.history));
}

bool publish_result(const fs::path& cell_dir, const CellFileInput& input, const Fs& disk) {
  const ColumnTable table = file_table(input, "depthgrid-result");
  TableWriter writer(cell_dir / "result.h5", table_bytes(table), disk);
  write_table(writer, table);
  return writer.publish_once(newest_generation(input.history));
}

}  // namespace depthgrid
