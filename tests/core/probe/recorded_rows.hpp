#pragma once

#include <cstddef>
#include <cstdint>
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

  void keep(std::size_t cell, const StateRecord& record) override {
    Kept& copy = kept[cell];
    copy.step = record.step;
    copy.half = record.half;
    copy.sequences = record.sequences;
    copy.edge_times.assign(record.edge_times.begin(), record.edge_times.end());
    copy.channels.assign(record.channels.begin(), record.channels.end());
    copy.token_ids.assign(record.token_ids.begin(), record.token_ids.end());
    copy.states.assign(record.states.begin(), record.states.end());
  }

  /// Of the series `name`; throws if it has not been written.
  const std::vector<double>& row(const std::string& name, std::size_t cell = 0) const {
    return rows_.at({name, cell});
  }

  /// A copy of a StateRecord.
  struct Kept {
    std::int64_t step = -1;
    bool half = false;
    std::int64_t sequences = 0;
    std::vector<double> edge_times;
    std::vector<std::int64_t> channels;
    std::vector<std::int32_t> token_ids;
    std::vector<std::byte> states;

    bool operator==(const Kept& other) const = default;
  };

  std::vector<SeriesSpec> series;
  std::map<std::size_t, Kept> kept;  // by cell

 private:
  std::map<std::pair<std::string, std::size_t>, std::vector<double>> rows_;
};

}  // namespace depthgrid::testing
