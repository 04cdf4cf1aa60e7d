#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include "core/base/unique_handle.hpp"

namespace depthgrid {

/// HDF5 handles differ only in their close function, so one traits template serves them all.
template <herr_t (*Close)(hid_t)>
struct H5Traits {
  using Handle = hid_t;
  static constexpr Handle null() noexcept { return H5I_INVALID_HID; }
  static void release(Handle h) noexcept { Close(h); }
};

using H5File = UniqueHandle<H5Traits<&H5Fclose>>;
using H5Group = UniqueHandle<H5Traits<&H5Gclose>>;
using H5Dataset = UniqueHandle<H5Traits<&H5Dclose>>;
using H5Space = UniqueHandle<H5Traits<&H5Sclose>>;
using H5Type = UniqueHandle<H5Traits<&H5Tclose>>;
using H5Attr = UniqueHandle<H5Traits<&H5Aclose>>;
using H5Props = UniqueHandle<H5Traits<&H5Pclose>>;

/// Stops HDF5 from printing its error stack to stderr on this thread: our exceptions carry it.
void h5_quiet() noexcept;

/// @return  `id` (or status) unchanged.
/// @throws  BackendError with HDF5's own error stack if it is negative.
hid_t h5_check(hid_t id, const char* call);

/// Closes now and reports errors that a destructor would swallow: HDF5 writes when closing.
template <class Handle>
void h5_close(Handle& handle, herr_t (*close)(hid_t), const char* call) {
  if (handle) h5_check(close(handle.detach()), call);
}

/// Access properties of every file: format V18, no file locks (exclusion comes from the lease).
H5Props h5_file_access();

/// Makes a file or group that `creation` creates keep the order of its members and attributes, and
/// no times.
void h5_keep_order(const H5Props& creation);

/// A fixed-length UTF-8 string type, null-padded; a length of 0 becomes 1. For attributes only: the
/// netCDF library takes them as character strings of its own, but data sets of them break its heap.
H5Type h5_string_type(std::size_t length);

/// UTF-8 of variable length, the type of all texts in data sets: netCDF's NC_STRING.
H5Type h5_text_type();

/// Writes the whole of a data set of h5_text_type(). @param texts  as many as it has items.
void h5_write_texts(hid_t dataset, const std::vector<std::string>& texts);

/// All texts of a data set, row-major; also of one of fixed length, as older versions wrote them.
std::vector<std::string> h5_read_texts(hid_t dataset);

/// Attributes of an object: scalars, fixed-length UTF-8 of any length, lists of small integers.
/// @throws BackendError.
void h5_put(hid_t owner, const std::string& name, const std::string& text);
void h5_put(hid_t owner, const std::string& name, std::int64_t value);
void h5_put(hid_t owner, const std::string& name, double value);
void h5_put(hid_t owner, const std::string& name, const std::vector<std::int8_t>& values);
void h5_put(hid_t owner, const std::string& name, const H5Type& type, const void* value);

/// Nothing if there is no attribute of that name, or one of another type.
std::optional<std::string> h5_text(hid_t owner, const std::string& name);
std::optional<std::int64_t> h5_integer(hid_t owner, const std::string& name);
std::optional<double> h5_number(hid_t owner, const std::string& name);

/// Sorted by name.
std::vector<std::string> h5_attribute_names(hid_t owner);

/// Names of a group's members, in order of creation.
std::vector<std::string> h5_member_names(hid_t group);

/// A scalar if there are no extents.
H5Space h5_space(const std::vector<hsize_t>& extents);

/// Extents of a dataset; empty for a scalar.
std::vector<hsize_t> h5_extents(hid_t dataset);

}  // namespace depthgrid
