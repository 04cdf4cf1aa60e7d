#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/columns/table_writer.hpp"
#include "storage/pack/pack_axes.hpp"
#include "storage/pack/pack_sources.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Inputs of the packed file, as gathered by pack().
struct PackInput {
  const Store& store;
  const StoredPlan& plan;
  const PackSources& sources;
  const ColumnTable& previous;  // axes of the previous packed file; empty if it is not used
  const PackAxes& axes;
  const AxisSizes& sizes;  // of every axis
};

/// True if some cell's numbers come from the previous packed file.
bool any_packed(const PackSources& sources);

/// Mapping to the packed file of a source's axes after `cell`.
std::vector<AxisFit> fits_of(const PackInput& input, const ColumnTable& source,
                             const std::vector<std::string>& dims);

/// Items of one cell: the product of the axes after `cell`.
std::size_t inner_items(const PackInput& input, const std::vector<std::string>& dims);

/// Writes the variables over a step axis: nearly all bytes of the packed file.
///
/// Built one block of cells at a time while other threads compress. Chunks in which no cell has
/// changed are copied from the previous packed file as stored.
class SeriesPacker {
 public:
  explicit SeriesPacker(const PackInput& input) : input_(input) {}

  /// Plans a series; call before bytes() and declare().
  void add(std::string_view variable);
  /// Uncompressed size of all series.
  std::uint64_t bytes() const;
  /// Creates the dataset.
  void declare(TableWriter& writer, std::string_view variable);
  /// Writes all declared series.
  void write(TableWriter& writer);

 private:
  struct Series {
    VariableColumn column;
    std::int64_t chunk_rows = 0;      // 0: too small for chunks
    std::size_t number = 0;           // of the writer
    std::size_t row_bytes = 0;        // of one cell
    bool reusable = false;            // chunks of the previous packed file have the same shape
    std::vector<std::byte> gathered;  // of a series without chunks
  };
  /// The cells [first, first + rows.size()) and the sources of their series.
  struct Block {
    std::int64_t first = 0;
    std::vector<ColumnTable> files;
    std::vector<const ColumnTable*> rows;
  };

  bool same_shape_before(const Series& series) const;
  Block load_block(std::int64_t first, std::int64_t end) const;
  std::vector<std::byte> build_chunk(const Block& block, const Series& series, std::int64_t row,
                                     std::int64_t end) const;
  std::vector<bool> rows_without_series() const;
  bool copy_chunk(TableWriter& writer, const Series& series, std::int64_t row,
                  const std::vector<bool>& empty) const;

  PackInput input_;
  std::vector<Series> series_;
};

}  // namespace depthgrid
