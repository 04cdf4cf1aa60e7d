#include "storage/hdf5/h5_handles.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

void put(hid_t owner, const std::string& name, hid_t file_type, hid_t memory_type,
         const H5Space& space, const void* value) {
  H5Attr attribute(
      h5_check(H5Acreate2(owner, name.c_str(), file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
               ("H5Acreate2 " + name).c_str()));
  h5_check(H5Awrite(attribute.get(), memory_type, value), "H5Awrite");
  h5_close(attribute, &H5Aclose, "H5Aclose");
}

/// Calls `read(attribute, type)` if there is an attribute of that name.
template <class Read>
auto with_attribute(hid_t owner, const std::string& name, Read read)
    -> decltype(read(hid_t{}, hid_t{})) {
  if (h5_check(H5Aexists(owner, name.c_str()), "H5Aexists") == 0) return std::nullopt;
  const H5Attr attribute(h5_check(H5Aopen(owner, name.c_str(), H5P_DEFAULT), "H5Aopen"));
  const H5Type type(h5_check(H5Aget_type(attribute.get()), "H5Aget_type"));
  return read(attribute.get(), type.get());
}

std::size_t items_of(const H5Space& space) {
  const hssize_t items = H5Sget_simple_extent_npoints(space.get());
  h5_check(items < 0 ? -1 : 0, "H5Sget_simple_extent_npoints");
  return static_cast<std::size_t>(items);
}

/// Texts of variable length, which HDF5 allocates while it reads; gives them back.
class ReadTexts {
 public:
  explicit ReadTexts(hid_t dataset)
      : space_(h5_check(H5Dget_space(dataset), "H5Dget_space")), items_(items_of(space_), nullptr) {
    h5_check(H5Dread(dataset, type_.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, items_.data()),
             "H5Dread");
  }
  ~ReadTexts() { H5Dvlen_reclaim(type_.get(), space_.get(), H5P_DEFAULT, items_.data()); }
  ReadTexts(const ReadTexts&) = delete;
  ReadTexts& operator=(const ReadTexts&) = delete;

  const std::vector<char*>& items() const { return items_; }  // the empty text is a null pointer

 private:
  H5Type type_ = h5_text_type();
  H5Space space_;
  std::vector<char*> items_;
};

std::vector<std::string> read_fixed_texts(hid_t dataset, std::size_t width) {
  const H5Space space(h5_check(H5Dget_space(dataset), "H5Dget_space"));
  std::vector<char> bytes(items_of(space) * width);
  h5_check(
      H5Dread(dataset, h5_string_type(width).get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()),
      "H5Dread");
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    out.emplace_back(bytes.data() + at, strnlen(bytes.data() + at, width));
  }
  return out;
}

}  // namespace

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

void h5_keep_order(const H5Props& creation) {
  constexpr unsigned kTracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  h5_check(H5Pset_link_creation_order(creation.get(), kTracked), "H5Pset_link_creation_order");
  h5_check(H5Pset_attr_creation_order(creation.get(), kTracked), "H5Pset_attr_creation_order");
  h5_check(H5Pset_obj_track_times(creation.get(), false), "H5Pset_obj_track_times");
}

H5Type h5_string_type(std::size_t length) {
  H5Type type(h5_check(H5Tcopy(H5T_C_S1), "H5Tcopy"));
  h5_check(H5Tset_size(type.get(), std::max<std::size_t>(1, length)), "H5Tset_size");
  h5_check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "H5Tset_strpad");
  h5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

H5Type h5_text_type() {
  H5Type type(h5_check(H5Tcopy(H5T_C_S1), "H5Tcopy"));
  h5_check(H5Tset_size(type.get(), H5T_VARIABLE), "H5Tset_size");
  h5_check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

void h5_write_texts(hid_t dataset, const std::vector<std::string>& texts) {
  std::vector<const char*> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(text.c_str());
  h5_check(H5Dwrite(dataset, h5_text_type().get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, items.data()),
           "H5Dwrite");
}

std::vector<std::string> h5_read_texts(hid_t dataset) {
  const H5Type type(h5_check(H5Dget_type(dataset), "H5Dget_type"));
  if (h5_check(H5Tis_variable_str(type.get()), "H5Tis_variable_str") == 0) {
    return read_fixed_texts(dataset, H5Tget_size(type.get()));
  }
  const ReadTexts read(dataset);
  std::vector<std::string> out;
  out.reserve(read.items().size());
  for (const char* text : read.items()) out.emplace_back(text == nullptr ? "" : text);
  return out;
}

void h5_put(hid_t owner, const std::string& name, const std::string& text) {
  h5_put(owner, name, h5_string_type(text.size()), text.c_str());
}

void h5_put(hid_t owner, const std::string& name, std::int64_t value) {
  put(owner, name, H5T_STD_I64LE, H5T_NATIVE_INT64, h5_space({}), &value);
}

void h5_put(hid_t owner, const std::string& name, double value) {
  put(owner, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, h5_space({}), &value);
}

void h5_put(hid_t owner, const std::string& name, const std::vector<std::int8_t>& values) {
  put(owner, name, H5T_STD_I8LE, H5T_NATIVE_INT8, h5_space({values.size()}), values.data());
}

void h5_put(hid_t owner, const std::string& name, const H5Type& type, const void* value) {
  put(owner, name, type.get(), type.get(), h5_space({}), value);
}

std::optional<std::string> h5_text(hid_t owner, const std::string& name) {
  return with_attribute(owner, name, [](hid_t attribute, hid_t type) -> std::optional<std::string> {
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) return std::nullopt;
    std::string out(H5Tget_size(type), '\0');
    h5_check(H5Aread(attribute, h5_string_type(out.size()).get(), out.data()), "H5Aread");
    out.resize(out.find_last_not_of('\0') + 1);
    return out;
  });
}

std::optional<std::int64_t> h5_integer(hid_t owner, const std::string& name) {
  return with_attribute(owner, name,
                        [](hid_t attribute, hid_t type) -> std::optional<std::int64_t> {
                          if (H5Tget_class(type) != H5T_INTEGER) return std::nullopt;
                          std::int64_t out = 0;
                          h5_check(H5Aread(attribute, H5T_NATIVE_INT64, &out), "H5Aread");
                          return out;
                        });
}

std::optional<double> h5_number(hid_t owner, const std::string& name) {
  return with_attribute(owner, name, [](hid_t attribute, hid_t type) -> std::optional<double> {
    if (H5Tget_class(type) != H5T_FLOAT) return std::nullopt;
    double out = 0;
    h5_check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &out), "H5Aread");
    return out;
  });
}

std::vector<std::string> h5_attribute_names(hid_t owner) {
  std::vector<std::string> out;
  const auto add = [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  };
  h5_check(H5Aiterate2(owner, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &out), "H5Aiterate2");
  return out;
}

std::vector<std::string> h5_member_names(hid_t group) {
  std::vector<std::string> out;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* names) -> herr_t {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
  };
  h5_check(H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, add, &out), "H5Literate");
  return out;
}

H5Space h5_space(const std::vector<hsize_t>& extents) {
  if (extents.empty()) return H5Space(h5_check(H5Screate(H5S_SCALAR), "H5Screate"));
  return H5Space(
      h5_check(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
               "H5Screate_simple"));
}

std::vector<hsize_t> h5_extents(hid_t dataset) {
  const H5Space space(h5_check(H5Dget_space(dataset), "H5Dget_space"));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  h5_check(rank, "H5Sget_simple_extent_ndims");
  std::vector<hsize_t> out(static_cast<std::size_t>(rank));
  h5_check(H5Sget_simple_extent_dims(space.get(), out.data(), nullptr), "dims");
  return out;
}

}  // namespace depthgrid
