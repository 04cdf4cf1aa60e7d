#include "worker/probe/measurement_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"

namespace depthgrid {

std::size_t MeasurementRows::declare(const SeriesSpec& series) {
  const auto known = std::ranges::find(names_, series.name);
  if (known != names_.end()) return static_cast<std::size_t>(known - names_.begin());
  names_.push_back(series.name);
  for (const SeriesAxis& a : series.axes) layout_.give({a.name, a.length, a.labels, a.values});
  slots_.push_back(layout_.add(series.name));
  row_.resize(slots_.back().first + slots_.back().count, kNaN);
  return slots_.size() - 1;
}

void MeasurementRows::write(std::size_t series, std::size_t cell, std::span<const double> values) {
  const RowSlot& slot = slots_.at(series);
  if (cell != 0 || values.size() != slot.count) {
    throw Error("a probe writes " + std::to_string(values.size()) + " values of cell " +
                std::to_string(cell) + " where one cell has " + std::to_string(slot.count));
  }
  std::ranges::copy(values, row_.begin() + static_cast<std::ptrdiff_t>(slot.first));
}

void MeasurementRows::end_measurement(std::int64_t step) {
  measurements_[step] = row_;
  std::ranges::fill(row_, kNaN);
}

std::vector<std::int64_t> MeasurementRows::steps() const {
  std::vector<std::int64_t> out;
  for (const auto& [step, row] : measurements_) out.push_back(step);
  return out;
}

RowTable MeasurementRows::rows() const {
  RowTable out;
  out.width = static_cast<std::int64_t>(row_.size());
  for (const auto& [step, row] : measurements_) out.add(step, row);
  return out;
}

}  // namespace depthgrid
