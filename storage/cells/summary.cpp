#include "storage/cells/summary.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/cells/cell_file.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/cells/cell_result.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_reader.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/former_values.hpp"
#include "storage/hdf5/checkpoint.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Series whose last step is a metric; loading the others would only slow down large listings.
constexpr std::array<std::string_view, 5> kLastStep = {
    "train_loss", "train_loss_total", "train_grad_norm", "train_tokens", "train_wall_time"};

/// Numbers of a measurement of which the last one is a metric: what the way to a gradient is worth,
/// and what regularisers name.
bool is_last_probe(const Variable& v) {
  return v.name == "gradient_adjoint_error" || v.name.starts_with("reversible_") ||
         v.name.starts_with("regulariser_");
}

/// Facts about the figures of a cell that are none themselves: CellSummary::facts.
constexpr std::array<std::string_view, 4> kFacts = {"split_digest", "split_bytes",
                                                    "eval_mode_noncausal", "text_rules"};

bool is_fact(const Variable& v) {
  return std::ranges::find(kFacts, v.name) != kFacts.end();
}

/// Figures of the axes of a control signal: of each axis, or each on its own labels (the diagonal).
bool axis_metric(const Variable& v) {
  constexpr std::array<std::string_view, 3> kOfAxes = {"control_label_rate", "control_axis_trained",
                                                       "control_auc"};
  return std::ranges::find(kOfAxes, v.name) != kOfAxes.end();
}

/// Terms of the training loss, which few cells have.
bool is_loss_term(const Variable& v) {
  return v.dims == "cell, step" && v.name.starts_with("train_loss_") &&
         v.name != "train_loss_scale";
}

bool is_metric(const Variable& v) {
  if (v.type == DataType::Text || is_fact(v)) return false;
  if (is_loss_term(v)) return true;
  if (v.dims == "cell, step") return std::ranges::find(kLastStep, v.name) != kLastStep.end();
  if (v.dims == "cell, probe_step") return is_last_probe(v);
  if (v.dims == "cell, eval_step" || v.dims == "cell, eval_step, split") return true;
  if (v.dims == "cell, eval_step, eval_mode" || v.dims == "cell, eval_mode") {
    return v.name.find("loss") != v.name.npos || v.name.find("share") != v.name.npos;
  }
  if (v.dims == "cell, split") return true;
  if (axis_metric(v)) return true;
  constexpr std::array<std::string_view, 6> kStems = {
      "train_", "cost_", "predicted_", "replay", "control_neutral_cost", "flow_bypass_cost"};
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

/// The last loss of a diverged cell is NaN, so counts, not losses, show how far a cell got.
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

/// The columns of metrics and facts.
std::vector<std::string> summary_variables() {
  std::vector<std::string> out;
  for (const Variable& v : variables()) {
    if (is_metric(v) || is_fact(v)) out.emplace_back(v.name);
  }
  return out;
}

/// Of each axis of a control signal: of matrices, each axis against its own labels.
void add_axis_numbers(const ColumnTable& table, const VariableColumn& column, std::size_t row,
                      std::map<std::string, double>& out) {
  const VariableColumn* names = table.find("control_axis");
  if (names == nullptr) return;
  const std::size_t axes = names->items(), items = items_of_cell(table, column);
  for (std::size_t k = 0; k < axes && axes * axes >= items; ++k) {
    const std::size_t at = items == axes ? k : k * axes + k;
    if (at >= items) return;
    const double number = column.number(row * items + at);
    if (!is_absent(column, number)) out[column.name + "." + names->text(k)] = number;
  }
}

/// Numbers of one cell by variable of the table, with the split after a dot. For a series over
/// `step` that of the last step made, for one over `eval_step` of the last evaluation. Absent
/// numbers (NaN, -1) are left out.
/// @param table   with the coordinate of each step axis; `cell` may have any length.
/// @param wanted  is_metric or is_fact.
std::map<std::string, double> cell_numbers(const ColumnTable& table, std::size_t row,
                                           bool (*wanted)(const Variable&)) {
  std::map<std::string, double> out;
  const std::optional<std::size_t> step = last_on_axis(table, "step", row);
  const std::optional<std::size_t> evaluation = last_on_axis(table, "eval_step", row);
  for (const Variable& v : variables()) {
    const VariableColumn* column = wanted(v) ? table.find(v.name) : nullptr;
    if (column == nullptr) continue;
    if (axis_metric(v)) {
      add_axis_numbers(table, *column, row, out);
      continue;
    }
    const std::span<const std::string_view> labels = labels_of(dimension(axes_of(v).back()));
    const std::size_t width = std::max<std::size_t>(1, labels.size());
    std::size_t first = row * items_of_cell(table, *column);
    if (v.dims.starts_with("cell, step")) {
      if (!step) continue;
      first += *step;
    } else if (v.dims.starts_with("cell, eval_step")) {
      if (!evaluation) continue;
      first += *evaluation * width;
    } else if (v.dims == "cell, probe_step") {
      const std::optional<std::size_t> measured = last_row(table, *column, row, 1);
      if (!measured) continue;
      first += *measured;
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

/// An integer variable of the cell; `absent` if the table lacks the variable.
std::int64_t cell_integer(const ColumnTable& table, std::string_view name, std::size_t row,
                          std::int64_t absent) {
  const VariableColumn* column = table.find(name);
  return column == nullptr || column->items() <= row ? absent : column->integer(row);
}

/// Last optimiser step recorded for the cell; 0 if none.
std::int64_t last_step(const ColumnTable& table, std::size_t row) {
  const std::int64_t stopped = cell_integer(table, "stopped_at", row, -1);
  if (stopped >= 0) return stopped;
  const std::optional<std::size_t> at = last_on_axis(table, "step", row);
  return at ? table.find("step")->integer(*at) : 0;
}

CellSummary named(const StoredPlan& plan, const StoredCell& cell) {
  CellSummary out;
  out.plan = cell.generation;
  out.in_plan = in_newest_plan(plan, cell);
  out.id = cell.id;
  out.alias = cell.alias;
  out.arm = cell.arm;
  out.tag = cell.tag;
  out.seed = cell.seed;
  out.overrides = cell.overrides;
  const Value* steps = leaf_of(plan, cell, "train.steps");
  if (steps != nullptr && steps->is_number()) {
    out.steps = static_cast<std::int64_t>(steps->number());
  }
  return out;
}

/// The columns that summaries need and the file has.
ColumnTable read_summary_columns(const TableReader& reader) {
  std::vector<std::string> names = summary_variables();
  for (const char* name :
       {"step", "eval_step", "cell_status", "stopped_at", "n_steps", "n_parameters", "attempt_cell",
        "attempt_host", "attempt_code_version", "audit_verdict", "result_sha256", "event_cell",
        "event_kind", "precision_settings", "control_axis"}) {
    names.emplace_back(name);
  }
  for (const char* name : kAttemptCostColumns) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  ColumnTable out;
  for (const std::string& name : names) {
    if (reader.has(name)) out.columns.push_back(reader.read(name));
  }
  out.sizes["cell"] = static_cast<std::int64_t>(reader.read("cell").items());
  return out;
}

/// Number of attempts of each cell, and what is kept of the newest.
struct Attempts {
  int count = 0;
  std::string host, code;
  std::int64_t damages = 0;  // events that say so
  AttemptCost cost;
};

/// @param seconds_per_step  see attempt_costs().
std::map<CellId, Attempts> attempts_of(const ColumnTable& table,
                                       const std::map<CellId, double>& seconds_per_step = {}) {
  std::map<CellId, Attempts> out;
  for (const auto& [cell, cost] : attempt_costs(table, seconds_per_step)) out[cell].cost = cost;
  const VariableColumn* of = table.find("event_cell");
  const VariableColumn* kinds = table.find("event_kind");
  for (std::size_t i = 0; of != nullptr && kinds != nullptr && i < of->items(); ++i) {
    const auto kind = static_cast<EventKind>(kinds->integer(i));
    const bool met = kind == EventKind::Damage || kind == EventKind::CheckpointRejected;
    if (met) ++out[of->text(i)].damages;
  }
  const VariableColumn* cells = table.find("attempt_cell");
  const VariableColumn* hosts = table.find("attempt_host");
  const VariableColumn* codes = table.find("attempt_code_version");
  if (cells == nullptr || hosts == nullptr) return out;
  for (std::size_t i = 0; i < cells->items(); ++i) {
    Attempts& attempts = out[cells->text(i)];
    ++attempts.count;
    attempts.host = hosts->text(i);  // ascending generation within a cell
    if (codes != nullptr) attempts.code = codes->text(i);
  }
  return out;
}

/// CellSummary::audit.
std::string audit_shortcomings(const ColumnTable& table, std::size_t row) {
  const VariableColumn* verdicts = table.find("audit_verdict");
  if (verdicts == nullptr) return {};
  std::string out;
  const std::size_t checks = items_of_cell(table, *verdicts);  // an older file may have fewer
  for (std::size_t i = 0; i < std::min(checks, kAuditCheckNames.size()); ++i) {
    const std::int64_t verdict = verdicts->integer(row * checks + i);  // flags of audit_verdict
    const std::string_view word = verdict == 2 ? "fail" : verdict == 3 ? "off" : "";
    if (word.empty()) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", kAuditCheckNames[i], word);
  }
  return out;
}

void fill(CellSummary& out, const ColumnTable& table, std::size_t row,
          const std::map<CellId, Attempts>& attempts) {
  out.step = last_step(table, row);
  out.parameters = std::max<std::int64_t>(0, cell_integer(table, "n_parameters", row, 0));
  out.metrics = cell_numbers(table, row, is_metric);
  out.facts = cell_numbers(table, row, is_fact);
  out.audit = audit_shortcomings(table, row);
  const VariableColumn* settings = table.find("precision_settings");
  if (settings != nullptr && settings->items() > row) out.settings = settings->text(row);
  if (const auto at = attempts.find(out.id); at != attempts.end()) {
    out.attempts = at->second.count;
    out.host = at->second.host;
    out.code = at->second.code;
    out.damages_met = at->second.damages;
    out.cost = at->second.cost;
  }
}

/// What a result lacks that it should have: some releases published records with holes.
std::string missing_steps(const ColumnTable& table, std::size_t row) {
  const std::int64_t last = cell_integer(table, "stopped_at", row, -1);
  const std::int64_t there = cell_integer(table, "n_steps", row, last);
  if (there >= last) return {};
  return fmt::format(
      "its result holds {} of {} training steps: records had been damaged; to train "
      "it again, move its result.h5 away and run the sweep",
      there, last);
}

CellStatus finished_status(const ColumnTable& table, std::size_t row) {
  const std::int64_t status = cell_integer(table, "cell_status", row, -1);
  return status == static_cast<std::int64_t>(CellStatus::Diverged) ? CellStatus::Diverged
                                                                   : CellStatus::Completed;
}

/// The packed file, which may lack cells of a newer plan; nothing if it is missing or damaged.
class PackedSummary {
 public:
  explicit PackedSummary(const Store& store) {
    if (!something_at(store.packed_file(), store.fs())) return;
    try {
      const TableReader reader(store.packed_file(), store.fs());
      if (!readable_version(reader.text_attribute("format_version"))) return;
      const VariableColumn cells = reader.read("cell");
      for (std::size_t i = 0; i < cells.items(); ++i) rows_[cells.text(i)] = i;
      table_ = read_summary_columns(reader);
      attempts_ = attempts_of(table_);
    } catch (const StorageError& error) {
      log(LogLevel::Warning,
          std::string(error.what()) + "; reading the files of the cells instead");
      rows_.clear();
    }
  }

  /// @param seal  of the result; empty: any result will do.
  /// @return false unless the packed file holds exactly this result.
  bool fill(CellSummary& out, const std::string& seal) const {
    const auto row = rows_.find(out.id);
    const VariableColumn* seals = table_.find("result_sha256");
    if (row == rows_.end() || seals == nullptr) return false;
    const std::string kept = seals->text(row->second);
    if (kept.empty() || (!seal.empty() && kept != seal)) return false;
    depthgrid::fill(out, table_, row->second, attempts_);
    out.status = finished_status(table_, row->second);
    out.damage = missing_steps(table_, row->second);
    return true;
  }

 private:
  std::map<CellId, std::size_t> rows_;
  ColumnTable table_;
  std::map<CellId, Attempts> attempts_;
};

void fill_from_result(CellSummary& out, const fs::path& file, const StoredCell& cell,
                      const Fs& disk) {
  const ColumnTable table = read_summary_columns(open_cell_file(file, cell.id, cell.changed, disk));
  fill(out, table, 0, attempts_of(table));
  out.status = finished_status(table, 0);
  out.damage = missing_steps(table, 0);
}

/// The number of parameters is in no journal, but in the newest snapshot.
std::int64_t parameters_of_snapshot(const fs::path& file, const StoredCell& cell, const Fs& disk) {
  if (!something_at(file, disk)) return 0;
  try {
    const TableReader reader = open_cell_file(file, cell.id, cell.changed, disk);
    return reader.has("n_parameters") ? reader.read("n_parameters").integer(0) : 0;
  } catch (const StorageError&) {
    return 0;  // a damaged snapshot does no harm: the next one replaces it
  }
}

/// The command that trains the cell: that of its own plan, if it is not in the one asked for.
std::string command_of(const Store& store, const CellSummary& cell) {
  if (cell.in_plan) return "depthgrid run";
  const fs::path text = store.sweep_yaml(cell.plan);
  return "depthgrid run " + (something_at(text, store.fs()) ? text : store.sweep_yaml()).string();
}

/// What of an unfinished cell's records is damaged; empty if nothing is.
/// @param command  that computes again what is lost.
std::string damage_of_records(const std::string& command, const CellHistory& history,
                              const std::vector<CheckpointFile>& checkpoints) {
  const MergedRows* train = history.find("train");
  std::string out;
  for (const std::string& damage : history.damages) out += (out.empty() ? "" : "; ") + damage;
  const std::int64_t covered = covered_steps(history);
  const bool gap = train != nullptr && train->rows.size() > 0 && train->rows.steps.back() > covered;
  // A cell that stopped early has checkpoints of later steps, but no gap and some rows.
  if (out.empty() && (gap || (covered == 0 && !checkpoints.empty() && checkpoints[0].step > 0))) {
    out = fmt::format("records after step {} are missing", covered);
  }
  return out.empty() ? out : out + "; " + command + " computes again what is lost";
}

void fill_from_journals(CellSummary& out, const Store& store, const StoredPlan& plan,
                        const StoredCell& cell, const CellState& state) {
  const fs::path folder = store.cell_path(cell.id);
  if (!store.fs().is_folder(folder)) return;
  // Before the journals are read: a running cell records the steps of a checkpoint first.
  const std::vector<CheckpointFile> checkpoints = list_checkpoints(folder, store.fs());
  const CellHistory history = read_history(folder, store.fs());
  out.damage = damage_of_records(command_of(store, out), history, checkpoints);
  const ColumnTable table = cell_records(
      {.plan = cell, .sweep = plan, .history = history, .status = state.status, .facts = {}});
  std::map<CellId, double> seconds_per_step;
  const std::map<std::string, double> metrics = cell_numbers(table, 0, is_metric);
  const auto wall = metrics.find("train_wall_time");
  const std::int64_t made = last_step(table, 0);
  if (wall != metrics.end() && made > 0) {
    seconds_per_step[cell.id] = wall->second / static_cast<double>(made);
  }
  fill(out, table, 0, attempts_of(table, seconds_per_step));
  out.status = state.status;
  out.parameters = parameters_of_snapshot(folder / "metrics.h5", cell, store.fs());
  const bool failed = state.status == CellStatus::Failed || state.status == CellStatus::Oom;
  if (failed || state.status == CellStatus::Cancelled) out.problem = state.problem;
}

/// The row of the packed file in the place of a result that is damaged or gone, unless the cell is
/// being trained again.
bool fill_from_kept_row(CellSummary& row, const Store& store, const PackedSummary& packed,
                        const CellOutcome& found, const fs::path& result) {
  if (found.state.status == CellStatus::Running || !packed.fill(row, "")) return false;
  row.damage = (found.damage.empty() ? result.string() + ": is missing" : found.damage) +
               "; the numbers are those of sweep.h5; " + command_of(store, row) +
               " trains the cell again";
  return true;
}

/// Why the folder of a cell cannot be read; empty if it can, or is not there yet.
std::string barrier(const fs::path& folder, const Fs& disk) {
  const int error = disk.open_folder(folder).error;
  if (error == 0 || error == ENOENT) return {};
  return std::string("cannot be read: ") + std::strerror(error) +
         "; make it a folder that can be read";
}

void fill_row(CellSummary& row, const Store& store, const StoredPlan& plan, const StoredCell& cell,
              const PackedSummary& packed, const FormerValues& former) {
  const fs::path folder = store.cell_path(cell.id);
  if (const std::string why = former.of(cell.id); !why.empty()) {
    row.damage = why + "; " + command_of(store, row) + " trains the cell again";
    return;  // pending, without numbers
  }
  if (const std::string barred = barrier(folder, store.fs()); !barred.empty()) {
    const StorageError problem(folder, barred, ExitCode::NoInput);
    if (!packed.fill(row, "")) throw problem;
    row.damage = std::string(problem.what()) + "; the numbers are those of sweep.h5";
    return;
  }
  const fs::path result = folder / "result.h5";
  CellOutcome found = cell_outcome(store, cell.id);
  if (found.seal && packed.fill(row, hex(found.seal->digest))) return;
  if (found.seal) {
    try {
      return fill_from_result(row, result, cell, store.fs());
    } catch (const StorageError& error) {
      if (error.code() != ExitCode::BadData) throw;
      found = unfinished_outcome(store, cell.id);
      found.damage = error.what();
    }
  }
  if (!former.doubtful(cell.id) && fill_from_kept_row(row, store, packed, found, result)) return;
  fill_from_journals(row, store, plan, cell, found.state);
  if (found.damage.empty()) return;
  row.damage = found.damage + "; " + command_of(store, row) + " trains the cell again";
}

}  // namespace

std::vector<CellSummary> summarise(const Store& store, const StoredPlan& plan,
                                   const std::function<void(std::size_t, std::size_t)>& progress) {
  const PackedSummary packed(store);
  const FormerValues former(store, plan);
  std::vector<CellSummary> out;
  out.reserve(plan.cells.size());
  for (const StoredCell& cell : plan.cells) {
    if (progress) progress(out.size(), plan.cells.size());
    CellSummary& row = out.emplace_back(named(plan, cell));
    try {
      fill_row(row, store, plan, cell, packed, former);
    } catch (const StorageError& error) {
      row.status = CellStatus::Failed;
      row.problem = error.what();
    }
  }
  return out;
}

}  // namespace depthgrid
