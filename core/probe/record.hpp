#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace depthgrid {

/// An axis of a series whose length, and where a leaf names its entries whose labels, the prober
/// knows: depth_edge of 7, token_class of {all, rare}, histogram_bin of 32 centres.
struct SeriesAxis {
  std::string name;
  std::int64_t length = 0;
  std::vector<std::string> labels = {};  // of an axis of words
  std::vector<double> values = {};       // of an axis of numbers that are not 0, 1, 2 …
};

/// A series that somebody will write: a row of numbers per cell and step.
struct SeriesSpec {
  std::string name;                   // of the stored variable: its row says axes, type and unit
  std::vector<SeriesAxis> axes = {};  // those behind the step that are not fixed; up to two
};

/// Where numbers go that are looked up while a job trains. Numbers of host memory, never tensors.
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  /// Once, before the job begins. @return the number by which write() knows the series.
  /// @throws Error for a name that cannot be stored, naming series, axis and lengths.
  virtual std::size_t declare(const SeriesSpec& series) = 0;

  /// @param values  of one cell, row-major over all axes behind the step. Series that are not
  /// written at a step are absent there (NaN).
  /// @throws Error for another count than the axes have.
  virtual void write(std::size_t series, std::size_t cell, std::span<const double> values) = 0;
};

}  // namespace depthgrid
