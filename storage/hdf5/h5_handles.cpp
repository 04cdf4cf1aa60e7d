#include "storage/hdf5/h5_handles.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace depthgrid {

void h5_quiet() noexcept {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

hid_t h5_check(hid_t id, const char* call) {
  if (id >= 0) return id;
  std::string stack;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
        *static_cast<std::string*>(out) += std::string(e->func_name) + ": " + e->desc + "; ";
        return 0;
      },
      &stack);
  H5Eclear2(H5E_DEFAULT);
  throw BackendError("HDF5", call, static_cast<long>(id), stack);
}

H5Props h5_file_access() {
  H5Props access(h5_check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
  h5_check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18),
           "H5Pset_libver_bounds");
  h5_check(H5Pset_file_locking(access.get(), false, true), "H5Pset_file_locking");
  h5_check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "H5Pset_fclose_degree");
  return access;
}

H5Type h5_string_type(std::size_t length) {
  H5Type type(h5_check(H5Tcopy(H5T_C_S1), "H5Tcopy"));
  h5_check(H5Tset_size(type.get(), std::max<std::size_t>(1, length)), "H5Tset_size");
  h5_check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "H5Tset_strpad");
  h5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

}  // namespace depthgrid
