#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/hdf5/h5_handles.hpp"
#include "storage/hdf5/h5_write.hpp"

namespace depthgrid {

/// From this size on, datasets are chunked and filtered.
inline constexpr std::uint64_t kFilteredBytes = 64U << 10U;

/// Type in the file of a kind of number (a predefined type: never closed).
hid_t h5_file_type(H5Kind kind);

/// Kind of a number type as read; F8 for what no kind matches.
H5Kind h5_kind_of(hid_t type);

/// Creation properties of a dataset: creation order of attributes, fill value and, from 64 KiB up,
/// chunks of about half a MiB with shuffle, deflate 4 and Fletcher32 (bytes: deflate only).
/// @param text  for strings: no fill value but zeros.
H5Props h5_dataset_properties(H5Kind kind, bool text, std::size_t element_bytes,
                              std::span<const hsize_t> shape);

/// Chunk of at most about half a MiB: whole inner extents, as many rows as fit.
std::vector<hsize_t> h5_chunk(std::size_t element_bytes, std::span<const hsize_t> shape);

/// Number of elements; 1 for no axis.
std::uint64_t h5_count(std::span<const hsize_t> shape);

/// A scalar or simple dataspace.
H5Space h5_space(std::span<const hsize_t> shape);

/// Widths of strings are multiples of 8.
std::size_t h5_text_width(std::span<const std::string> values, std::size_t least);

/// `values` side by side, each padded with zeros to `width` bytes. @throws Error if one is longer.
std::vector<char> h5_pad(std::span<const std::string> values, std::size_t width);

/// NaN becomes -1. @throws Error if a value does not fit the integer kind.
std::vector<std::int64_t> h5_to_integers(std::span<const double> values);
void h5_check_range(H5Kind kind, std::span<const std::int64_t> values, const std::string& name);

}  // namespace depthgrid
