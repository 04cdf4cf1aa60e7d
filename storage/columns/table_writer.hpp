#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// A column of which only the shape is given; its numbers come later.
struct DeclaredColumn {
  std::string name;
  std::vector<std::string> dims;
  DataType type = DataType::Float32;
  std::size_t item_bytes = 4;
  std::int64_t chunk_rows = 1;  // rows of the first axis in one chunk; 0: contiguous
  Attributes attributes;
};

/// Bytes from which on a column is chunked and filtered.
inline constexpr std::size_t kFilteredFrom = std::size_t{64} << 10;

/// Most rows that chunk_rows() gives; always a power of two.
inline constexpr std::int64_t kMostChunkRows = 128;

/// Rows of one chunk such that it has 256 KiB to 512 KiB: a power of two, or all rows if fewer.
std::int64_t chunk_rows(std::size_t row_bytes, std::int64_t rows);

/// Writes tables as sealed HDF5 files that xarray, h5py, pandas and h5dump open as they are: all in
/// the root group, dimension scales attached to every axis, fixed-length UTF-8, V18 format.
///
/// The columns go in as bytes (column_table.hpp), whole or in chunks that are filtered already.
/// Small files are built in shared memory, large ones beside the target; what an abandoned build
/// leaves is removed. @throws BackendError of HDF5, StorageError when publishing fails.
class TableWriter {
 public:
  TableWriter(const std::filesystem::path& target, std::uint64_t expected_bytes);
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  /// Attributes of the root; texts may have any length.
  void attributes(const Attributes& attributes);

  /// A coordinate column: makes the axis of its name. Must come before columns that use the axis.
  void axis(const VariableColumn& coordinate);

  /// A whole column. Over `cell` alone it is contiguous, else chunked from 64 KiB up.
  void column(const VariableColumn& column);

  /// @return the number by which write_chunk() and write_whole() know it.
  std::size_t declare(const DeclaredColumn& column);

  /// @param encoded    the chunk behind the filters (chunk_codec.hpp).
  /// @param first_row  a multiple of chunk_rows.
  void write_chunk(std::size_t column, std::int64_t first_row, std::span<const std::byte> encoded);

  /// All numbers of a declared column that is not chunked.
  void write_whole(std::size_t column, std::span<const std::byte> bytes);

  /// Seals and publishes; the writer takes nothing more.
  void replace(std::int64_t generation);
  /// @return false if somebody had published the target before; ours is dropped.
  bool publish_once(std::int64_t generation);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a table whole: axes in the order of the table of dimensions, then the columns.
void write_table(TableWriter& writer, const ColumnTable& table);

/// Bytes of all columns, for TableWriter's estimate.
std::uint64_t table_bytes(const ColumnTable& table);

}  // namespace depthgrid
