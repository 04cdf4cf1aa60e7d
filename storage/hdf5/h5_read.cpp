#include "storage/hdf5/h5_read.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include "core/base/error.hpp"
#include "storage/hdf5/h5_layout.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

std::string owner_path(const std::string& owner) {
  return owner.empty() ? "/" : owner;
}

std::vector<hsize_t> shape_of(hid_t space) {
  const int rank = h5_check(H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims");
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  h5_check(H5Sget_simple_extent_dims(space, shape.data(), nullptr), "H5Sget_simple_extent_dims");
  return shape;
}

/// Name of the first scale attached to one axis; "" if there is none.
std::string scale_name(hid_t set, unsigned axis) {
  std::string name;
  h5_check(H5DSiterate_scales(
               set, axis, nullptr,
               [](hid_t, unsigned, hid_t scale, void* out) -> herr_t {
                 const ssize_t n = H5DSget_scale_name(scale, nullptr, 0);
                 if (n < 0) return -1;
                 std::string text(static_cast<std::size_t>(n) + 1, '\0');
                 H5DSget_scale_name(scale, text.data(), text.size());
                 *static_cast<std::string*>(out) = text.c_str();
                 return 1;
               },
               &name),
           "H5DSiterate_scales");
  return name;
}

H5VariableInfo describe(hid_t set, const std::string& name) {
  const H5Type type(h5_check(H5Dget_type(set), "H5Dget_type"));
  const H5Space space(h5_check(H5Dget_space(set), "H5Dget_space"));
  H5VariableInfo info;
  info.name = name;
  for (const hsize_t n : shape_of(space.get())) info.shape.push_back(static_cast<std::int64_t>(n));
  info.is_text = H5Tget_class(type.get()) == H5T_STRING;
  if (info.is_text) {
    info.text_width = H5Tget_size(type.get());
  } else {
    info.kind = h5_kind_of(type.get());
  }
  info.is_dimension = H5DSis_scale(set) > 0;
  for (std::size_t i = 0; i < info.shape.size(); ++i) {
    info.dims.push_back(info.is_dimension ? name : scale_name(set, static_cast<unsigned>(i)));
  }
  return info;
}

/// Texts that lie side by side, without their padding.
std::vector<std::string> split_texts(const std::vector<char>& raw, std::size_t width) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at + width <= raw.size() && width > 0; at += width) {
    out.emplace_back(raw.data() + at, strnlen(raw.data() + at, width));
  }
  return out;
}

/// Fixed-length texts of a dataset or attribute.
std::vector<std::string> read_texts(hid_t type, std::uint64_t count, auto&& read) {
  if (H5Tis_variable_str(type) != 0) throw Error("strings of variable length are not read");
  const std::size_t width = H5Tget_size(type);
  std::vector<char> raw(count * width);
  if (count > 0) h5_check(read(h5_string_type(width).get(), raw.data()), "read");
  return split_texts(raw, width);
}

}  // namespace

std::int64_t H5VariableInfo::count() const {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) n *= size;
  return n;
}

struct H5Reader::Impl {
  fs::path path;
  SealInfo seal;
  H5File file;
  std::optional<std::vector<H5VariableInfo>> variables;  // listed at first use

  /// What libhdf5 refuses in a sealed file is damage, or a name that is not there.
  template <class Read>
  auto guard(const std::string& what, Read&& read) const {
    try {
      return read();
    } catch (const StorageError&) {
      throw;
    } catch (const Error& e) {
      throw StorageError(path, "cannot read '" + what + "': " + e.what(), ExitCode::BadData);
    }
  }

  H5Dataset open(const std::string& name) const {
    if (!exists(name))
      throw StorageError(path, "has no variable '" + name + "'", ExitCode::BadData);
    return H5Dataset(h5_check(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), "H5Dopen2"));
  }

  bool exists(const std::string& name) const {
    for (std::size_t slash = name.find('/'); slash != std::string::npos;
         slash = name.find('/', slash + 1)) {
      const std::string group = name.substr(0, slash);
      if (H5Lexists(file.get(), group.c_str(), H5P_DEFAULT) <= 0) return false;
    }
    return H5Lexists(file.get(), name.c_str(), H5P_DEFAULT) > 0;
  }

  std::vector<H5VariableInfo> list(const std::string& group) const {
    std::vector<H5VariableInfo> out;
    if (!group.empty() && !exists(group)) return out;
    const H5Group at(
        h5_check(H5Gopen2(file.get(), owner_path(group).c_str(), H5P_DEFAULT), "H5Gopen2"));
    std::vector<std::string> names;
    hsize_t index = 0;
    const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* names_out) -> herr_t {
      static_cast<std::vector<std::string>*>(names_out)->emplace_back(name);
      return 0;
    };
    h5_check(H5Literate(at.get(), H5_INDEX_CRT_ORDER, H5_ITER_INC, &index, collect, &names),
             "H5Literate");
    for (const std::string& name : names) {
      const H5Object object(h5_check(H5Oopen(at.get(), name.c_str(), H5P_DEFAULT), "H5Oopen"));
      if (H5Iget_type(object.get()) != H5I_DATASET) continue;
      out.push_back(describe(object.get(), name));
      if (!group.empty()) out.back().name = group + "/" + name;
    }
    return out;
  }

  /// Whole dataset of numbers as `memory_type`.
  template <class T>
  std::vector<T> read(const std::string& name, hid_t memory_type) const {
    return guard(name, [&] {
      const H5Dataset set = open(name);
      const H5Space space(h5_check(H5Dget_space(set.get()), "H5Dget_space"));
      const H5Type type(h5_check(H5Dget_type(set.get()), "H5Dget_type"));
      if (H5Tget_class(type.get()) == H5T_STRING) throw Error("it holds text, not numbers");
      std::vector<T> values(h5_count(shape_of(space.get())));
      if (!values.empty()) {
        h5_check(H5Dread(set.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                 "H5Dread");
      }
      return values;
    });
  }

  /// Calls `read(attribute, type, count)` if there is such an attribute.
  template <class Read>
  auto attribute(const std::string& owner, const std::string& name, Read&& read) const {
    using Result = decltype(read(hid_t{}, hid_t{}, std::uint64_t{}));
    return guard(owner + "@" + name, [&]() -> std::optional<Result> {
      if (!owner.empty() && !exists(owner)) return std::nullopt;
      const char* at = owner.empty() ? "/" : owner.c_str();
      if (h5_check(H5Aexists_by_name(file.get(), at, name.c_str(), H5P_DEFAULT),
                   "H5Aexists_by_name") == 0) {
        return std::nullopt;
      }
      const H5Attr attr(h5_check(
          H5Aopen_by_name(file.get(), at, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "H5Aopen"));
      const H5Type type(h5_check(H5Aget_type(attr.get()), "H5Aget_type"));
      const H5Space space(h5_check(H5Aget_space(attr.get()), "H5Aget_space"));
      return read(attr.get(), type.get(), h5_count(shape_of(space.get())));
    });
  }

  template <class T>
  std::optional<std::vector<T>> numbers_attribute(const std::string& owner, const std::string& name,
                                                  hid_t memory_type) const {
    return attribute(owner, name, [&](hid_t attr, hid_t type, std::uint64_t count) {
      if (H5Tget_class(type) == H5T_STRING) throw Error("it holds text, not numbers");
      std::vector<T> values(count);
      if (count > 0) h5_check(H5Aread(attr, memory_type, values.data()), "H5Aread");
      return values;
    });
  }
};

H5Reader::H5Reader(const fs::path& file, bool verify) : impl_(std::make_unique<Impl>()) {
  h5_quiet();
  impl_->path = file;
  if (verify) {
    impl_->seal = verify_sealed_file(file);
  } else {
    const auto seal = peek_seal(file);
    if (!seal) throw StorageError(file, "is not a sealed file", ExitCode::BadData);
    impl_->seal = *seal;
  }
  impl_->guard("the file", [&] {
    impl_->file =
        H5File(h5_check(H5Fopen(file.c_str(), H5F_ACC_RDONLY, h5_file_access().get()), "H5Fopen"));
    return 0;
  });
}

H5Reader::~H5Reader() = default;
H5Reader::H5Reader(H5Reader&&) noexcept = default;
H5Reader& H5Reader::operator=(H5Reader&&) noexcept = default;

const fs::path& H5Reader::file() const {
  return impl_->path;
}

const SealInfo& H5Reader::seal() const {
  return impl_->seal;
}

const std::vector<H5VariableInfo>& H5Reader::variables() const {
  if (!impl_->variables) impl_->variables = variables_of("");
  return *impl_->variables;
}

std::vector<H5VariableInfo> H5Reader::variables_of(const std::string& group) const {
  return impl_->guard("group " + owner_path(group), [&] { return impl_->list(group); });
}

bool H5Reader::has(const std::string& name) const {
  return impl_->exists(name);
}

H5VariableInfo H5Reader::info(const std::string& name) const {
  return impl_->guard(name, [&] { return describe(impl_->open(name).get(), name); });
}

std::vector<double> H5Reader::numbers(const std::string& name) const {
  return impl_->read<double>(name, H5T_NATIVE_DOUBLE);
}

std::vector<std::int64_t> H5Reader::integers(const std::string& name) const {
  return impl_->read<std::int64_t>(name, H5T_NATIVE_INT64);
}

std::vector<float> H5Reader::floats(const std::string& name) const {
  return impl_->read<float>(name, H5T_NATIVE_FLOAT);
}

std::vector<std::string> H5Reader::texts(const std::string& name) const {
  return impl_->guard(name, [&] {
    const H5Dataset set = impl_->open(name);
    const H5Type type(h5_check(H5Dget_type(set.get()), "H5Dget_type"));
    if (H5Tget_class(type.get()) != H5T_STRING) throw Error("it holds numbers, not text");
    const H5Space space(h5_check(H5Dget_space(set.get()), "H5Dget_space"));
    return read_texts(type.get(), h5_count(shape_of(space.get())), [&](hid_t memory, char* out) {
      return H5Dread(set.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
    });
  });
}

std::vector<std::string> H5Reader::attribute_names(const std::string& owner) const {
  return impl_->guard(owner_path(owner), [&] {
    std::vector<std::string> names;
    const H5Object at(
        h5_check(H5Oopen(impl_->file.get(), owner_path(owner).c_str(), H5P_DEFAULT), "H5Oopen"));
    hsize_t index = 0;
    const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
      static_cast<std::vector<std::string>*>(out)->emplace_back(name);
      return 0;
    };
    h5_check(H5Aiterate2(at.get(), H5_INDEX_NAME, H5_ITER_INC, &index, collect, &names),
             "H5Aiterate2");
    return names;
  });
}

std::optional<std::vector<std::string>> H5Reader::texts_attribute(const std::string& owner,
                                                                  const std::string& name) const {
  return impl_->attribute(owner, name, [](hid_t attr, hid_t type, std::uint64_t count) {
    if (H5Tget_class(type) != H5T_STRING) throw Error("it holds numbers, not text");
    return read_texts(type, count,
                      [&](hid_t memory, char* out) { return H5Aread(attr, memory, out); });
  });
}

std::optional<std::string> H5Reader::text_attribute(const std::string& owner,
                                                    const std::string& name) const {
  const auto all = texts_attribute(owner, name);
  if (!all || all->empty()) return std::nullopt;
  return all->front();
}

std::optional<std::int64_t> H5Reader::integer_attribute(const std::string& owner,
                                                        const std::string& name) const {
  const auto all = impl_->numbers_attribute<std::int64_t>(owner, name, H5T_NATIVE_INT64);
  if (!all || all->empty()) return std::nullopt;
  return all->front();
}

std::optional<double> H5Reader::number_attribute(const std::string& owner,
                                                 const std::string& name) const {
  const auto all = numbers_attribute(owner, name);
  if (!all || all->empty()) return std::nullopt;
  return all->front();
}

std::optional<std::vector<double>> H5Reader::numbers_attribute(const std::string& owner,
                                                               const std::string& name) const {
  return impl_->numbers_attribute<double>(owner, name, H5T_NATIVE_DOUBLE);
}

bool H5Reader::attribute_is_text(const std::string& owner, const std::string& name) const {
  return impl_
      ->attribute(owner, name,
                  [](hid_t, hid_t type, std::uint64_t) { return H5Tget_class(type) == H5T_STRING; })
      .value_or(false);
}

std::string H5Reader::required_text(const std::string& name) const {
  auto value = text_attribute("", name);
  if (!value) throw StorageError(file(), "has no attribute '" + name + "'", ExitCode::BadData);
  return *value;
}

std::int64_t H5Reader::required_integer(const std::string& name) const {
  const auto value = integer_attribute("", name);
  if (!value) throw StorageError(file(), "has no attribute '" + name + "'", ExitCode::BadData);
  return *value;
}

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  h5_check(H5get_libversion(&major, &minor, &release), "H5get_libversion");
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace depthgrid
