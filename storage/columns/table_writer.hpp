#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/base/real_fs.hpp"
#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// Columns of at least this many bytes are chunked and filtered.
inline constexpr std::size_t kFilteredFrom = std::size_t{64} << 10;

/// Upper bound of chunk_rows(); a power of two.
inline constexpr std::int64_t kMostChunkRows = 128;

/// Number of rows per chunk that gives chunks of 256 KiB to 512 KiB: a power of two, or all rows if
/// there are fewer.
std::int64_t chunk_rows(std::size_t row_bytes, std::int64_t rows);

/// Writes tables as sealed HDF5 files that xarray, h5py, pandas and h5dump open directly:
/// everything in the root group, dimension scales attached to every axis, V18 format. They are
/// files of netCDF-4 too: of its types are numbers and texts (UTF-8 of variable length).
///
/// Columns are passed as bytes (column_table.hpp), whole or in chunks that are already filtered.
/// Small files are built in shared memory, large ones beside the target; the destructor removes an
/// unpublished file. @throws BackendError from HDF5, StorageError when publishing fails.
class TableWriter {
 public:
  /// @param expected_bytes  estimate of the file's size, which decides where it is built.
  /// @param disk  outlives it.
  TableWriter(const std::filesystem::path& target, std::uint64_t expected_bytes,
              const Fs& disk = real_fs());
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  /// Sets attributes of the root; texts may have any length.
  void attributes(const Attributes& attributes);

  /// Writes a coordinate column and creates the axis of its name. Must precede columns that use it.
  void axis(const VariableColumn& coordinate);

  /// Writes a whole column: contiguous if it is over `cell` alone or of texts, else chunked from
  /// 64 KiB up.
  void column(const VariableColumn& column);

  /// Declares a column whose numbers are written later. @throws Error for a column of texts.
  /// @param column      without bytes.
  /// @param chunk_rows  rows of the first axis in one chunk; 0: contiguous.
  /// @return the index of the column for write_chunk() and write_whole().
  std::size_t declare(const VariableColumn& column, std::int64_t chunk_rows);

  /// @param encoded    the filtered chunk (chunk_codec.hpp).
  /// @param first_row  a multiple of chunk_rows.
  void write_chunk(std::size_t column, std::int64_t first_row, std::span<const std::byte> encoded);

  /// Writes all numbers of a declared column that is not chunked.
  void write_whole(std::size_t column, std::span<const std::byte> bytes);

  /// Seals the file and publishes it in place of an older one; the writer accepts nothing more.
  void replace(std::int64_t generation);
  /// As replace(), unless the target exists. @return false if it does; this file is then dropped.
  bool publish_once(std::int64_t generation);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a whole table: axes in the order of the table of dimensions, then the columns.
void write_table(TableWriter& writer, const ColumnTable& table);

/// Version of the loaded HDF5 library ("1.10.8").
std::string hdf5_version();

/// Bytes of all columns, for the `expected_bytes` of TableWriter.
std::uint64_t table_bytes(const ColumnTable& table);

}  // namespace depthgrid
