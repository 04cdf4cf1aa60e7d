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
};

}  // namespace depthgrid
