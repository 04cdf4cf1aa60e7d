#include "worker/session/cell_rows.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

using Out = std::span<double>;

/// A recorded variable: where its numbers come from, and which jobs have it.
template <class Row>
struct Recorded {
  std::string_view variable;
  void (*put)(const Row& row, Out out);
  bool (*wanted)(const RecordShape& shape) = nullptr;  // null: every job
};

/// Cell e's part of an (E, ...) table.
void put_cell(const std::vector<double>& all, std::size_t e, Out out) {
  std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(e * out.size()), out.size(), out.begin());
}

/// One number per split; NaN if there is none.
template <class T>
void put_splits(const EvalRow& row, T EvalResult::* member, Out out) {
  for (std::size_t s = 0; s < out.size(); ++s) {
    const std::vector<EvalResult>& split = row.results[s];
    out[s] = split.empty() ? kNaN : static_cast<double>(split[row.e].*member);
  }
}

void put_positions(const EvalRow& row, Out out) {
  const std::size_t positions = out.size() / row.results.size();
  for (std::size_t s = 0; s < row.results.size(); ++s) {
    const std::vector<EvalResult>& split = row.results[s];
    const Out part = out.subspan(s * positions, positions);
    std::ranges::fill(part, kNaN);
    if (!split.empty()) std::ranges::copy(split[row.e].by_position, part.begin());
  }
}

bool skips_tokens(const RecordShape& shape) {
  return shape.layers > 0;
}

// To record one more number, add a row to the table of variables and a line here.
constexpr Recorded<TrainRow> kTrainSeries[] = {
    {"train_loss", [](const TrainRow& r, Out out) { out[0] = r.report.loss[r.e]; }},
    {"train_loss_total", [](const TrainRow& r, Out out) { out[0] = r.report.total[r.e]; }},
    {"train_learning_rate",
     [](const TrainRow& r, Out out) { out[0] = r.report.optimizer.lr[r.e]; }},
    {"train_grad_norm",
     [](const TrainRow& r, Out out) { out[0] = r.report.optimizer.norms.norm[r.e]; }},
    {"train_grad_norm_clipped",
     [](const TrainRow& r, Out out) { out[0] = r.report.optimizer.norms.norm_clipped[r.e]; }},
    {"train_clip_factor",
     [](const TrainRow& r, Out out) { out[0] = r.report.optimizer.norms.factor[r.e]; }},
    {"train_grad_norm_group",
     [](const TrainRow& r, Out out) { put_cell(r.report.optimizer.norms.group_norm, r.e, out); }},
    {"train_grad_norm_group_clipped",
     [](const TrainRow& r, Out out) {
       put_cell(r.report.optimizer.norms.group_norm_clipped, r.e, out);
     }},
    {"train_tokens", [](const TrainRow& r, Out out) { out[0] = r.tokens; }},
    {"train_epoch", [](const TrainRow& r, Out out) { out[0] = r.epoch; }},
    {"train_wall_time", [](const TrainRow& r, Out out) { out[0] = r.wall; }},
    {"train_loss_scale", [](const TrainRow& r, Out out) { out[0] = r.loss_scale; }},
    {"train_nonfinite", [](const TrainRow& r, Out out) { out[0] = r.report.nonfinite[r.e]; }},
    {"train_update_norm",
     [](const TrainRow& r, Out out) { out[0] = r.report.optimizer.update.update_norm[r.e]; }},
    {"train_parameter_norm",
     [](const TrainRow& r, Out out) { out[0] = r.report.optimizer.update.parameter_norm[r.e]; }},
    {"alpha", [](const TrainRow& r, Out out) { out[0] = r.alpha; },
     [](const RecordShape& s) { return s.flows; }},
};

constexpr Recorded<EvalRow> kEvalSeries[] = {
    {"eval_loss", [](const EvalRow& r, Out out) { put_splits(r, &EvalResult::loss, out); }},
    {"eval_loss_error", [](const EvalRow& r, Out out) { put_splits(r, &EvalResult::error, out); }},
    {"eval_tokens", [](const EvalRow& r, Out out) { put_splits(r, &EvalResult::tokens, out); }},
    {"eval_perplexity",
     [](const EvalRow& r, Out out) { put_splits(r, &EvalResult::perplexity, out); }},
    {"eval_bits_per_byte",
     [](const EvalRow& r, Out out) { put_splits(r, &EvalResult::bits_per_byte, out); }},
    {"eval_accuracy", [](const EvalRow& r, Out out) { put_splits(r, &EvalResult::accuracy, out); }},
    {"eval_loss_position", put_positions, [](const RecordShape& s) { return s.positions > 0; }},
    {"eval_loss_published",
     [](const EvalRow& r, Out out) { out[0] = r.published ? (*r.published)[r.e] : kNaN; },
     [](const RecordShape& s) { return s.published; }},
    {"eval_loss_mode", [](const EvalRow& r, Out out) { put_cell(r.modes.value().loss, r.e, out); },
     skips_tokens},
    {"eval_executed_share",
     [](const EvalRow& r, Out out) { put_cell(r.modes.value().executed, r.e, out); }, skips_tokens},
    {"eval_mismatch_gap", [](const EvalRow& r, Out out) { out[0] = r.modes.value().mismatch[r.e]; },
     skips_tokens},
};

/// Slots of a table's variables, in its order; none for those that the job does not have.
template <class Table>
std::vector<RowSlot> slots_of(const Table& table, const RecordShape& shape, RowLayout& layout) {
  std::vector<RowSlot> out;
  for (const auto& series : table) {
    const bool wanted = series.wanted == nullptr || series.wanted(shape);
    out.push_back(wanted ? layout.add(series.variable) : RowSlot{});
  }
  return out;
}

/// Unrolled, so that each line of the table is inlined: this runs for every cell and step.
template <const auto& kTable, class Row>
std::span<const double> filled(const std::vector<RowSlot>& slots, const Row& row,
                               std::vector<double>& numbers) {
  const auto put = [&]<std::size_t i>() {
    const RowSlot& slot = slots[i];
    if (slot.count > 0) kTable[i].put(row, Out(numbers.data() + slot.first, slot.count));
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (put.template operator()<i>(), ...);
  }(std::make_index_sequence<std::size(kTable)>());
  return numbers;
}

}  // namespace

CellRows::CellRows(const RecordShape& shape) {
  const auto give = [this](const char* axis, std::int64_t length) {
    if (length > 0) layout_.give({axis, length, {}, {}});
  };
  give("depth", shape.learned_scales);
  give("token_position", shape.positions);
  give("layer", shape.layers);
  for (const SeriesSpec& series : shape.series) {
    for (const SeriesAxis& a : series.axes) layout_.give({a.name, a.length, a.labels, a.values});
  }
  train_ = slots_of(kTrainSeries, shape, layout_);
  for (const std::string_view part : shape.loss_parts) {
    parts_.push_back(layout_.add("train_loss_" + std::string(part)));
  }
  if (shape.learned_scales > 0) learned_scales_ = layout_.add("residual_scale");
  eval_ = slots_of(kEvalSeries, shape, layout_);
  if (shape.layers > 0) {
    rate_ = layout_.add("routing_rate");
  }
  for (const SeriesSpec& series : shape.series) {
    series_.push_back(layout_.add(series.name));
    series_names_.push_back(series.name);
    if (series_.back().kind != kProbe) {
      throw Error("series '" + series.name + "' of a probe is not recorded over probe_step");
    }
  }
  for (const RowKind& kind : layout_.kinds()) {
    rows_.emplace_back(static_cast<std::size_t>(kind.width()), kNaN);
  }
}

std::span<double> CellRows::out(const RowSlot& slot) {
  return std::span(rows_[slot.kind]).subspan(slot.first, slot.count);
}

std::span<const double> CellRows::train(const TrainRow& row) {
  filled<kTrainSeries>(train_, row, rows_[kTrain]);
  for (std::size_t i = 0; i < parts_.size(); ++i) out(parts_[i])[0] = row.report.parts[i][row.e];
  if (learned_scales_) {
    const Out scales = out(*learned_scales_);
    if (row.learned_scales.size() != scales.size()) {
      throw Error(fmt::format("residual_scale: {} values for {} depth steps",
                              row.learned_scales.size(), scales.size()));
    }
    std::ranges::copy(row.learned_scales, scales.begin());
  }
  return rows_[kTrain];
}

std::span<const double> CellRows::eval(const EvalRow& row) {
  return filled<kEvalSeries>(eval_, row, rows_[kEval]);
}

void CellRows::put(const ModeResults& modes, std::size_t e) {
  put_cell(modes.rate, e, out(rate_.value()));
  probed_ = true;
}

void CellRows::put(std::size_t series, std::span<const double> values) {
  const Out to = out(series_.at(series));
  if (values.size() != to.size()) {
    throw Error(fmt::format("series '{}' got {} values, its axes require {}", series_names_[series],
                            values.size(), to.size()));
  }
  std::ranges::copy(values, to.begin());
  probed_ = true;
}

std::span<const double> CellRows::take_probes() {
  taken_ = rows_.at(kProbe);
  std::ranges::fill(rows_[kProbe], kNaN);
  probed_ = false;
  return taken_;
}

}  // namespace depthgrid
