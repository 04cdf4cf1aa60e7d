#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/nan.hpp"
#include "core/probe/record.hpp"
#include "core/train/trainer.hpp"
#include "storage/cells/row_layout.hpp"
#include "worker/eval/eval_plan.hpp"
#include "worker/eval/mode_evaluation.hpp"

namespace depthgrid {

/// Columns in the rows of a job beyond those that every cell has.
struct RecordShape {
  std::int64_t cells = 1;                         // E: the cost of snapshots is the whole job's
  bool flows = false;                             // a part of the depth has a scale α
  std::int64_t learned_scales = 0;                // L if the residual scale is a parameter, else 0
  std::int64_t positions = 0;                     // T if losses by position are kept, else 0
  bool published = false;                         // first study's evaluation protocol
  std::vector<std::string_view> loss_parts = {};  // train_loss_NAME besides the language loss
  std::int64_t layers = 0;                        // L if layers skip tokens, else 0
  std::vector<SeriesSpec> series = {};            // what the job's probes have declared
};

/// Cell e of one training step.
struct TrainRow {
  const StepReport& report;
  std::size_t e;
  double loss_scale;
  double tokens, epoch, wall;  // so far
  const std::vector<double>& learned_scales;
  double alpha = kNaN;  // RecordShape::flows
};

/// Cell e of one evaluation.
struct EvalRow {
  const SplitResults& results;
  const std::optional<std::vector<double>>& published;
  const std::optional<ModeResults>& modes;
  std::size_t e;
};

/// Builds the rows of one cell's journal by name.
///
/// Tables in cell_rows.cpp list what is recorded, one line per variable: its name and where its
/// number comes from. Type, axes and width follow from the table of variables; names are resolved
/// to positions in a row when the job begins and never looked up afterwards.
class CellRows {
 public:
  /// @throws Error naming variable, axis and lengths for what cannot be laid out.
  explicit CellRows(const RecordShape& shape);

  const RowLayout& layout() const noexcept { return layout_; }

  /// Each is valid until the next call. For Journal::append(): kinds 0, 1 and 2.
  std::span<const double> train(const TrainRow& row);
  std::span<const double> eval(const EvalRow& row);

  /// Adds the rates of execution of cell e by mode to the row of probes.
  void put(const ModeResults& modes, std::size_t e);
  /// Adds one of RecordShape::series to it. @throws Error if the count does not match its axes.
  void put(std::size_t series, std::span<const double> values);
  /// True if something was put since the last take_probes().
  bool probed() const noexcept { return probed_; }
  /// The row of probes; what was not put is NaN. The next one begins empty.
  std::span<const double> take_probes();

  static constexpr std::size_t kTrain = 0, kEval = 1, kProbe = 2;

 private:
  std::span<double> out(const RowSlot& slot);

  RowLayout layout_;
  std::vector<std::vector<double>> rows_;  // by kind
  std::vector<RowSlot> train_, eval_, parts_, series_;
  std::vector<std::string> series_names_;
  std::optional<RowSlot> learned_scales_, rate_;
  std::vector<double> taken_;
  bool probed_ = false;
};

}  // namespace depthgrid
