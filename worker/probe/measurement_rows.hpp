#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/probe/record.hpp"
#include "storage/cells/row_layout.hpp"

namespace depthgrid {

/// Rows of one cell from probes that measure it once per stored checkpoint.
class MeasurementRows final : public RecordSink {
 public:
  using Keep = std::function<void(const StateRecord& record)>;
  /// @param keep  receives raw states, which are no rows.
  explicit MeasurementRows(Keep keep = [](const StateRecord&) {}) : keep_(std::move(keep)) {}

  /// A series that was declared before is the same one.
  std::size_t declare(const SeriesSpec& series) override;
  void write(std::size_t series, std::size_t cell, std::span<const double> values) override;
  void keep(std::size_t /*cell*/, const StateRecord& record) override { keep_(record); }

  /// Ends the measurement after `step` steps; what was not written is absent.
  void end_measurement(std::int64_t step);

  std::size_t series() const noexcept { return slots_.size(); }
  std::size_t width() const noexcept { return row_.size(); }  // numbers of one measurement
  std::vector<std::int64_t> steps() const;
  const RowLayout& layout() const noexcept { return layout_; }
  /// By ascending step.
  RowTable rows() const;

 private:
  Keep keep_;
  RowLayout layout_;
  std::vector<std::string> names_;
  std::vector<RowSlot> slots_;
  std::vector<double> row_;
  std::map<std::int64_t, std::vector<double>> measurements_;
};

}  // namespace depthgrid
