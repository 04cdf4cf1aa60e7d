#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/probe/record.hpp"

namespace depthgrid::testing {

/// Keeps what a probe declares, and the last row that it writes for each cell.
class RecordedRows final : public RecordSink {
 public:
  std::size_t declare(const SeriesSpec& one) override {
    series.push_back(one);
    return series.size() - 1;
  }

  void write(std::size_t index, std::size_t cell, std::span<const double> values) override {
    std::size_t numbers = 1;
    for (const SeriesAxis& axis : series.at(index).axes) {
      numbers *= static_cast<std::size_t>(axis.length);
    }
    if (values.size() != numbers) throw Error("a row of another length: " + series[index].name);
    rows_[{series[index].name, cell}].assign(values.begin(), values.end());
  }

  /// Of the series `name`; throws if it has not been written.
  const std::vector<double>& row(const std::string& name, std::size_t cell = 0) const {
    return rows_.at({name, cell});
  }

  std::vector<SeriesSpec> series;

 private:
  std::map<std::pair<std::string, std::size_t>, std::vector<double>> rows_;
};

}  // namespace depthgrid::testing
