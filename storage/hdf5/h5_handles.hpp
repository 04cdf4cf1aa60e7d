#pragma once

#include <string>

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
using H5Object = UniqueHandle<H5Traits<&H5Oclose>>;

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

/// A fixed-length UTF-8 string type, null-padded; a length of 0 becomes 1.
H5Type h5_string_type(std::size_t length);

}  // namespace depthgrid
