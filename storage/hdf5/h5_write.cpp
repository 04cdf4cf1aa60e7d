#include "storage/hdf5/h5_write.hpp"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_layout.hpp"
#include "storage/hdf5/h5_scratch.hpp"

namespace depthgrid {
namespace {

std::vector<hsize_t> to_hsize(std::span<const std::int64_t> sizes) {
  return {sizes.begin(), sizes.end()};
}

bool is_real(H5Kind kind) {
  return kind == H5Kind::F4 || kind == H5Kind::F8;
}

std::string owner_path(const std::string& owner) {
  return owner.empty() ? "/" : owner;
}

}  // namespace

struct H5Builder::Impl {
  struct Dimension {
    hsize_t size = 0;
    H5Dataset scale;
  };
  /// Datasets stay open until the end: blocks may follow, and each close is checked.
  struct Entry {
    H5Dataset set;
    std::vector<hsize_t> shape;
    H5Kind kind = H5Kind::F8;
    std::size_t text_width = 0;
  };

  Impl(const std::filesystem::path& beside, std::uint64_t bytes) : scratch(beside, bytes) {}

  H5Scratch scratch;
  std::map<std::string, Dimension> dimensions;
  std::map<std::string, Entry> entries;

  hid_t file() const {
    if (scratch.file() < 0) throw Error("the HDF5 builder is finished");
    return scratch.file();
  }

  const Dimension& dimension(const std::string& name, const std::string& user) const {
    const auto at = dimensions.find(name);
    if (at == dimensions.end()) {
      throw Error(fmt::format("variable '{}' needs dimension '{}', which is not made", user, name));
    }
    return at->second;
  }

  std::vector<hsize_t> shape_of(const std::string& user,
                                const std::vector<std::string>& dims) const {
    std::vector<hsize_t> shape;
    for (const std::string& d : dims) shape.push_back(dimension(d, user).size);
    return shape;
  }

  Entry& create(const std::string& name, std::vector<hsize_t> shape, hid_t type, H5Kind kind,
                std::size_t text_width, const H5Props& properties) {
    H5Dataset set(h5_check(H5Dcreate2(file(), name.c_str(), type, h5_space(shape).get(),
                                      H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                           ("H5Dcreate2 " + name).c_str()));
    const auto [at, fresh] =
        entries.insert_or_assign(name, Entry{std::move(set), std::move(shape), kind, text_width});
    return at->second;
  }

  Entry& create_numbers(const std::string& name, const std::vector<hsize_t>& shape, H5Kind kind) {
    const hid_t type = h5_file_type(kind);
    return create(name, shape, type, kind, 0,
                  h5_dataset_properties(kind, false, H5Tget_size(type), shape));
  }

  Entry& create_texts(const std::string& name, const std::vector<hsize_t>& shape,
                      std::size_t width) {
    Entry& entry = create(name, shape, h5_string_type(width).get(), H5Kind::U1, width,
                          h5_dataset_properties(H5Kind::U1, true, width, shape));
    put_text(entry.set.get(), "_Encoding", "utf-8");
    return entry;
  }

  void finish_variable(Entry& entry, const std::string& name,
                       const std::vector<std::string>& dims) {
    if (entry.text_width == 0 && is_real(entry.kind)) put_fill(entry);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const hid_t scale = dimension(dims[i], name).scale.get();
      h5_check(H5DSattach_scale(entry.set.get(), scale, static_cast<unsigned>(i)),
               "H5DSattach_scale");
    }
  }

  void make_scale(const std::string& name, Entry& entry) {
    H5Dataset scale = std::move(entry.set);
    const hsize_t size = entry.shape.at(0);
    entries.erase(name);
    h5_check(H5DSset_scale(scale.get(), name.c_str()), "H5DSset_scale");
    dimensions.insert_or_assign(name, Dimension{size, std::move(scale)});
  }

  void put_fill(const Entry& entry) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    put_attribute(entry.set.get(), "_FillValue", h5_file_type(entry.kind), H5T_NATIVE_DOUBLE,
                  h5_space({}), &kNan);
  }

  static void put_attribute(hid_t owner, const std::string& name, hid_t type, hid_t memory_type,
                            const H5Space& space, const void* data) {
    H5Attr attribute(
        h5_check(H5Acreate2(owner, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                 ("H5Acreate2 " + name).c_str()));
    h5_check(H5Awrite(attribute.get(), memory_type, data), "H5Awrite");
    h5_close(attribute, &H5Aclose, "H5Aclose");
  }

  static void put_text(hid_t owner, const std::string& name, const std::string& value) {
    const H5Type type = h5_string_type(value.size());
    const std::string padded = value.empty() ? std::string(1, '\0') : value;
    put_attribute(owner, name, type.get(), type.get(), h5_space({}), padded.data());
  }

  H5Object open(const std::string& owner) const {
    return H5Object(h5_check(H5Oopen(file(), owner_path(owner).c_str(), H5P_DEFAULT),
                             ("H5Oopen " + owner).c_str()));
  }

  void write(const Entry& entry, const std::string& name, hid_t memory_type, std::size_t count,
             const void* data, const H5Space* part = nullptr) const {
    const std::uint64_t expected =
        part == nullptr ? h5_count(entry.shape)
                        : static_cast<std::uint64_t>(H5Sget_select_npoints(part->get()));
    if (count != expected) {
      throw Error(
          fmt::format("variable '{}': {} values given, {} expected", name, count, expected));
    }
    if (count == 0) return;
    const hsize_t n = count;
    const H5Space memory = part == nullptr ? H5Space() : h5_space(std::span(&n, 1));
    h5_check(H5Dwrite(entry.set.get(), memory_type, part == nullptr ? H5S_ALL : memory.get(),
                      part == nullptr ? H5S_ALL : part->get(), H5P_DEFAULT, data),
             ("H5Dwrite " + name).c_str());
  }

  void write_values(const Entry& entry, const std::string& name, std::span<const double> values,
                    const H5Space* part = nullptr) const {
    if (!is_real(entry.kind)) return write_values(entry, name, h5_to_integers(values), part);
    write(entry, name, H5T_NATIVE_DOUBLE, values.size(), values.data(), part);
  }

  void write_values(const Entry& entry, const std::string& name,
                    std::span<const std::int64_t> values, const H5Space* part = nullptr) const {
    h5_check_range(entry.kind, values, name);
    write(entry, name, H5T_NATIVE_INT64, values.size(), values.data(), part);
  }

  void write_values(const Entry& entry, const std::string& name,
                    const std::vector<std::int64_t>& values, const H5Space* part) const {
    write_values(entry, name, std::span<const std::int64_t>(values), part);
  }

  void write_values(const Entry& entry, const std::string& name,
                    std::span<const std::string> values, const H5Space* part = nullptr) const {
    const std::vector<char> padded = h5_pad(values, entry.text_width);
    write(entry, name, h5_string_type(entry.text_width).get(), values.size(), padded.data(), part);
  }

  /// @tparam Values  a span of double, int64 or string, which the entry must be made for.
  template <class Values>
  void write_part(const std::string& name, std::span<const std::int64_t> start,
                  std::span<const std::int64_t> count, Values values) const {
    const auto at = entries.find(name);
    if (at == entries.end()) throw Error("variable '" + name + "' is not declared");
    const Entry& entry = at->second;
    if (start.size() != entry.shape.size() || count.size() != entry.shape.size()) {
      throw Error(fmt::format("variable '{}' has {} axes", name, entry.shape.size()));
    }
    const std::vector<hsize_t> from = to_hsize(start);
    const std::vector<hsize_t> size = to_hsize(count);
    if (h5_count(size) == 0 && values.empty()) return;
    const H5Space part = h5_space(entry.shape);
    if (!entry.shape.empty()) {
      h5_check(H5Sselect_hyperslab(part.get(), H5S_SELECT_SET, from.data(), nullptr, size.data(),
                                   nullptr),
               "H5Sselect_hyperslab");
    }
    write_values(entry, name, values, &part);
  }

  void close() {
    for (auto& [name, entry] : entries) h5_close(entry.set, &H5Dclose, "H5Dclose");
    for (auto& [name, d] : dimensions) h5_close(d.scale, &H5Dclose, "H5Dclose");
    scratch.close();
  }
};

H5Builder::H5Builder(const std::filesystem::path& beside, std::uint64_t expected_bytes)
    : impl_(std::make_unique<Impl>(beside, expected_bytes)) {}

H5Builder::~H5Builder() = default;

void H5Builder::group(const std::string& name) {
  H5Props p(h5_check(H5Pcreate(H5P_GROUP_CREATE), "H5Pcreate"));
  constexpr unsigned kTracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  h5_check(H5Pset_link_creation_order(p.get(), kTracked), "H5Pset_link_creation_order");
  h5_check(H5Pset_attr_creation_order(p.get(), kTracked), "H5Pset_attr_creation_order");
  h5_check(H5Pset_obj_track_times(p.get(), false), "H5Pset_obj_track_times");
  H5Group made(h5_check(H5Gcreate2(impl_->file(), name.c_str(), H5P_DEFAULT, p.get(), H5P_DEFAULT),
                        "H5Gcreate2"));
  h5_close(made, &H5Gclose, "H5Gclose");
}

void H5Builder::attribute(const std::string& owner, const std::string& name,
                          const std::string& value) {
  Impl::put_text(impl_->open(owner).get(), name, value);
}

void H5Builder::attribute(const std::string& owner, const std::string& name, const char* value) {
  attribute(owner, name, std::string(value));
}

void H5Builder::attribute(const std::string& owner, const std::string& name, std::int64_t value) {
  Impl::put_attribute(impl_->open(owner).get(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, h5_space({}),
                      &value);
}

void H5Builder::attribute(const std::string& owner, const std::string& name, double value) {
  Impl::put_attribute(impl_->open(owner).get(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                      h5_space({}), &value);
}

void H5Builder::attribute(const std::string& owner, const std::string& name,
                          std::span<const std::int64_t> values) {
  const hsize_t n = values.size();
  Impl::put_attribute(impl_->open(owner).get(), name, H5T_STD_I64LE, H5T_NATIVE_INT64,
                      h5_space(std::span(&n, 1)), values.data());
}

void H5Builder::attribute(const std::string& owner, const std::string& name,
                          std::span<const double> values) {
  const hsize_t n = values.size();
  Impl::put_attribute(impl_->open(owner).get(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                      h5_space(std::span(&n, 1)), values.data());
}

void H5Builder::attribute(const std::string& owner, const std::string& name,
                          const std::vector<std::string>& values) {
  const hsize_t n = values.size();
  const std::size_t width = h5_text_width(values, 1);
  const std::vector<char> padded = h5_pad(values, width);
  const H5Type type = h5_string_type(width);
  Impl::put_attribute(impl_->open(owner).get(), name, type.get(), type.get(),
                      h5_space(std::span(&n, 1)), padded.data());
}

void H5Builder::dimension(const std::string& name, H5Kind kind,
                          std::span<const std::int64_t> values) {
  Impl::Entry& entry = impl_->create_numbers(name, {values.size()}, kind);
  impl_->write_values(entry, name, values);
  impl_->make_scale(name, entry);
}

void H5Builder::dimension(const std::string& name, H5Kind kind, std::span<const double> values) {
  Impl::Entry& entry = impl_->create_numbers(name, {values.size()}, kind);
  impl_->write_values(entry, name, values);
  if (is_real(kind)) impl_->put_fill(entry);
  impl_->make_scale(name, entry);
}

void H5Builder::dimension(const std::string& name, std::span<const std::string> values,
                          std::size_t least_width) {
  Impl::Entry& entry =
      impl_->create_texts(name, {values.size()}, h5_text_width(values, least_width));
  impl_->write_values(entry, name, values);
  impl_->make_scale(name, entry);
}

void H5Builder::dataset(const std::string& name, const std::vector<std::string>& dims, H5Kind kind,
                        std::span<const double> values) {
  Impl::Entry& entry = impl_->create_numbers(name, impl_->shape_of(name, dims), kind);
  impl_->write_values(entry, name, values);
  impl_->finish_variable(entry, name, dims);
}

void H5Builder::dataset(const std::string& name, const std::vector<std::string>& dims, H5Kind kind,
                        std::span<const std::int64_t> values) {
  Impl::Entry& entry = impl_->create_numbers(name, impl_->shape_of(name, dims), kind);
  impl_->write_values(entry, name, values);
  impl_->finish_variable(entry, name, dims);
}

void H5Builder::bytes(const std::string& name, const std::vector<std::string>& dims,
                      std::span<const std::uint8_t> values) {
  Impl::Entry& entry = impl_->create_numbers(name, impl_->shape_of(name, dims), H5Kind::U1);
  impl_->write(entry, name, H5T_NATIVE_UINT8, values.size(), values.data());
  impl_->finish_variable(entry, name, dims);
}

void H5Builder::strings(const std::string& name, const std::vector<std::string>& dims,
                        std::span<const std::string> values, std::size_t least_width) {
  Impl::Entry& entry =
      impl_->create_texts(name, impl_->shape_of(name, dims), h5_text_width(values, least_width));
  impl_->write_values(entry, name, values);
  impl_->finish_variable(entry, name, dims);
}

void H5Builder::declare(const std::string& name, const std::vector<std::string>& dims,
                        H5Kind kind) {
  Impl::Entry& entry = impl_->create_numbers(name, impl_->shape_of(name, dims), kind);
  impl_->finish_variable(entry, name, dims);
}

void H5Builder::declare_strings(const std::string& name, const std::vector<std::string>& dims,
                                std::size_t width) {
  Impl::Entry& entry =
      impl_->create_texts(name, impl_->shape_of(name, dims), h5_text_width({}, width));
  impl_->finish_variable(entry, name, dims);
}

void H5Builder::write_block(const std::string& name, std::span<const std::int64_t> start,
                            std::span<const std::int64_t> count, std::span<const double> values) {
  impl_->write_part(name, start, count, values);
}

void H5Builder::write_block(const std::string& name, std::span<const std::int64_t> start,
                            std::span<const std::int64_t> count,
                            std::span<const std::int64_t> values) {
  impl_->write_part(name, start, count, values);
}

void H5Builder::write_block(const std::string& name, std::span<const std::int64_t> start,
                            std::span<const std::int64_t> count,
                            std::span<const std::string> values) {
  impl_->write_part(name, start, count, values);
}

void H5Builder::tensor(const std::string& name, std::span<const std::int64_t> shape,
                       std::span<const float> values) {
  H5Props p(h5_check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
  h5_check(H5Pset_obj_track_times(p.get(), false), "H5Pset_obj_track_times");
  Impl::Entry& entry = impl_->create(name, to_hsize(shape), H5T_IEEE_F32LE, H5Kind::F4, 0, p);
  impl_->write(entry, name, H5T_NATIVE_FLOAT, values.size(), values.data());
}

bool H5Builder::has_dimension(const std::string& name) const {
  return impl_->dimensions.contains(name);
}

std::int64_t H5Builder::dimension_size(const std::string& name) const {
  return static_cast<std::int64_t>(impl_->dimension(name, name).size);
}

std::vector<std::byte> H5Builder::finish_sealed(std::int64_t generation) {
  impl_->close();
  std::vector<std::byte> image = impl_->scratch.bytes();
  seal_image(image, generation);
  return image;
}

void H5Builder::publish_replace(const std::filesystem::path& target, std::int64_t generation) {
  if (!impl_->scratch.named()) {
    return depthgrid::publish_replace(target, finish_sealed(generation));
  }
  impl_->close();
  impl_->scratch.seal_in_place(generation);
  install_replace(target, impl_->scratch.hand_over());
}

bool H5Builder::publish_once(const std::filesystem::path& target, std::int64_t generation) {
  if (!impl_->scratch.named()) {
    return depthgrid::publish_once(target, finish_sealed(generation));
  }
  impl_->close();
  impl_->scratch.seal_in_place(generation);
  return install_once(target, impl_->scratch.hand_over());
}

}  // namespace depthgrid
