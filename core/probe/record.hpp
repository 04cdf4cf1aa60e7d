#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace depthgrid {

/// An axis of a series whose length (and labels, if a leaf names its entries) the probe sets:
/// depth_edge of 7, token_class of {all, rare}, histogram_bin of 32 centres.
struct SeriesAxis {
  std::string name;
  std::int64_t length = 0;
  std::vector<std::string> labels = {};  // for an axis of words
  std::vector<double> values = {};       // for an axis of numbers that are not 0, 1, 2 …
};

/// A series that a probe will write: a row of numbers per cell and step.
struct SeriesSpec {
  std::string name;                   // of the stored variable, whose row gives axes, type and unit
  std::vector<SeriesAxis> axes = {};  // those after the step that are not fixed
};

/// Raw states of one cell at one measurement, for a file of their own: too many for a row of
/// numbers.
struct StateRecord {
  std::int64_t step = 0;                    // optimiser steps done
  bool half = true;                         // the states are binary16, else binary32
  std::int64_t sequences = 0;               // n, the first ones of the probe set
  std::span<const double> edge_times;       // (L + 1) depth-times
  std::span<const std::int64_t> channels;   // (k) those of the C that are kept, ascending
  std::span<const std::int32_t> token_ids;  // (n, T)
  std::span<const std::byte> states;        // (L + 1, n, T, k)
};

/// Receives what probes record while a job trains: numbers in host memory, never tensors.
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  /// Called once, before the job begins. @return the index of the series for write().
  /// @throws Error for a name that cannot be stored, naming series, axis and lengths.
  virtual std::size_t declare(const SeriesSpec& series) = 0;

  /// @param values  of one cell, row-major over all axes after the step. Series that are not
  /// written at a step are absent there (NaN).
  /// @throws Error if their number does not match the axes.
  virtual void write(std::size_t series, std::size_t cell, std::span<const double> values) = 0;

  /// Keeps raw states of a cell; the record is read before this returns. A sink without files
  /// ignores them.
  virtual void keep(std::size_t /*cell*/, const StateRecord& /*record*/) {}
};

}  // namespace depthgrid
