#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/real_fs.hpp"
#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// Whether the digest of the whole file is verified before HDF5 reads it, or only the seal's own
/// checksum.
enum class SealCheck : std::uint8_t { Whole, BlockOnly };

/// Shape of a column in the file.
struct ColumnShape {
  DataType type = DataType::Float64;
  std::size_t item_bytes = 8;  // 0: of texts, whose width is known once they are read
  std::vector<std::int64_t> extents;
  std::int64_t chunk_rows = 0;  // 0: contiguous
};

/// Reads columns of a sealed file that TableWriter wrote, as bytes. Texts of fixed length, as older
/// versions wrote them, are read like those of variable length.
///
/// The axes of a column follow from the table of variables, so no dimension scale is resolved: a
/// file of one cell is read in one or two milliseconds.
/// @throws StorageError: NoInput if there is no file; BadData if the seal is broken, HDF5 reports
///         an error, or the axes or the type of a variable differ from the table.
class TableReader {
 public:
  explicit TableReader(const std::filesystem::path& file, SealCheck check = SealCheck::Whole,
                       const Fs& disk = real_fs());
  TableReader(const std::filesystem::path& file, const Fs& disk)
      : TableReader(file, SealCheck::Whole, disk) {}
  ~TableReader();
  TableReader(TableReader&&) noexcept;
  TableReader& operator=(TableReader&&) noexcept;

  /// Names of all columns and coordinates, in the order in which they were written.
  const std::vector<std::string>& names() const;
  bool has(std::string_view name) const;

  /// Shape of a column, without reading it.
  ColumnShape shape(const std::string& name) const;
  /// A whole column with its axes, without attributes.
  VariableColumn read(const std::string& name) const;
  /// Rows [first, first + count) of the first axis of numbers, as in the file.
  std::vector<std::byte> read_rows(const std::string& name, std::int64_t first,
                                   std::int64_t count) const;
  /// The stored (filtered) bytes of the chunk that starts at `first_row`; nothing if the chunk was
  /// never written or was written with other filters.
  std::optional<std::vector<std::byte>> read_chunk(const std::string& name,
                                                   std::int64_t first_row) const;

  /// Attributes of the root; nothing if absent or of another type.
  std::optional<std::string> text_attribute(const std::string& name) const;
  std::optional<std::int64_t> integer_attribute(const std::string& name) const;
  /// @throws StorageError (BadData) naming it, if it is absent.
  std::string required_text(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names of the axes of a column in our files: those in the table of variables, the axis itself for
/// a coordinate, {"cell"} for `param_*` and the columns of the plan.
std::vector<std::string> axes_of_column(std::string_view name);

}  // namespace depthgrid
