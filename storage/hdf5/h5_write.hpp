#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace depthgrid {

/// Element types of numeric datasets: little-endian float32, float64, int8, int32, int64, uint8.
enum class H5Kind : std::uint8_t { F4, F8, I1, I4, I8, U1 };

/// Builds one HDF5 file aside and hands it over sealed (storage/files/sealed_file.hpp).
///
/// The file has the layout of docs/store-format.md: V18 format, creation order tracked, a 512-byte
/// user block, dimension scales attached to every axis, fixed-length strings, chunks + shuffle +
/// deflate 4 + Fletcher32 from 64 KiB up. Small files are built in /dev/shm or $TMPDIR, large ones
/// beside the target; what is left of an abandoned build is removed. Nothing is modified under a
/// final name. Float datasets get the fill value NaN and the attribute `_FillValue`; integers the
/// fill value -1 (bytes 0) and no attribute.
///
/// Errors: BackendError with HDF5's error stack; Error for a wrong count or an unknown dimension.
class H5Builder {
 public:
  /// @param beside          folder of the target; large files are built there.
  /// @param expected_bytes  estimate of the file's size; decides where it is built.
  explicit H5Builder(const std::filesystem::path& beside, std::uint64_t expected_bytes = 0);
  ~H5Builder();
  H5Builder(const H5Builder&) = delete;
  H5Builder& operator=(const H5Builder&) = delete;

  /// A group below the root ("weights"); datasets are then named "weights/NAME".
  void group(const std::string& name);

  /// Attribute of the object `owner` ("" = root). Strings are fixed-length UTF-8 of any length.
  void attribute(const std::string& owner, const std::string& name, const std::string& value);
  void attribute(const std::string& owner, const std::string& name, const char* value);
  void attribute(const std::string& owner, const std::string& name, std::int64_t value);
  void attribute(const std::string& owner, const std::string& name, double value);
  void attribute(const std::string& owner, const std::string& name,
                 std::span<const std::int64_t> values);
  void attribute(const std::string& owner, const std::string& name, std::span<const double> values);
  void attribute(const std::string& owner, const std::string& name,
                 const std::vector<std::string>& values);

  /// Dimension `name` with its coordinate variable, made a dimension scale. Sizes may be 0.
  void dimension(const std::string& name, H5Kind kind, std::span<const std::int64_t> values);
  void dimension(const std::string& name, H5Kind kind, std::span<const double> values);
  void dimension(const std::string& name, std::span<const std::string> values,
                 std::size_t least_width = 8);

  /// Whole dataset, row-major; dims name dimensions made before (none: a scalar). Values are
  /// converted to `kind`: NaN becomes -1 (absent) in integers, other values must fit.
  void dataset(const std::string& name, const std::vector<std::string>& dims, H5Kind kind,
               std::span<const double> values);
  void dataset(const std::string& name, const std::vector<std::string>& dims, H5Kind kind,
               std::span<const std::int64_t> values);
  void bytes(const std::string& name, const std::vector<std::string>& dims,
             std::span<const std::uint8_t> values);
  /// Width: the longest value, at least `least_width`, rounded up to a multiple of 8; attribute
  /// `_Encoding` = "utf-8".
  void strings(const std::string& name, const std::vector<std::string>& dims,
               std::span<const std::string> values, std::size_t least_width = 8);

  /// A dataset that is filled block by block; what is never written reads as the fill value and
  /// costs no space.
  void declare(const std::string& name, const std::vector<std::string>& dims, H5Kind kind);
  void declare_strings(const std::string& name, const std::vector<std::string>& dims,
                       std::size_t width);
  /// Writes the block that starts at `start` and has `count` elements along each axis.
  void write_block(const std::string& name, std::span<const std::int64_t> start,
                   std::span<const std::int64_t> count, std::span<const double> values);
  void write_block(const std::string& name, std::span<const std::int64_t> start,
                   std::span<const std::int64_t> count, std::span<const std::int64_t> values);
  void write_block(const std::string& name, std::span<const std::int64_t> start,
                   std::span<const std::int64_t> count, std::span<const std::string> values);

  /// Contiguous, unfiltered float32 of any shape, without dimensions: tensors of checkpoints.
  void tensor(const std::string& name, std::span<const std::int64_t> shape,
              std::span<const float> values);

  bool has_dimension(const std::string& name) const;
  std::int64_t dimension_size(const std::string& name) const;

  /// Closes the file and gives its bytes, sealed. The builder takes nothing more.
  std::vector<std::byte> finish_sealed(std::int64_t generation);

  /// finish_sealed and publish (storage/files/publish.hpp), without holding a large file in memory
  /// twice.
  void publish_replace(const std::filesystem::path& target, std::int64_t generation);
  /// @return  false if somebody had published `target` before; ours is dropped.
  bool publish_once(const std::filesystem::path& target, std::int64_t generation);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace depthgrid
