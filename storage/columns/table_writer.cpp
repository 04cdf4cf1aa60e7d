#include "storage/columns/table_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_handles.hpp"
#include "storage/hdf5/h5_scratch.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = std::size_t{512} << 10;
constexpr unsigned kDeflateLevel = 4;

/// Types that every reader of netCDF-4 knows too.
H5Type file_type(DataType type) {
  if (type == DataType::Text) return h5_text_type();
  const std::array<hid_t, 5> types = {H5T_STD_I8LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_IEEE_F32LE,
                                      H5T_IEEE_F64LE};
  return H5Type(h5_check(H5Tcopy(types[static_cast<std::size_t>(type)]), "H5Tcopy"));
}

void put_attribute(hid_t owner, const std::string& name, const AttributeValue& value) {
  std::visit([&](const auto& known) { h5_put(owner, name, known); }, value);
}

bool is_float(DataType type) {
  return type == DataType::Float32 || type == DataType::Float64;
}

}  // namespace

std::int64_t chunk_rows(std::size_t row_bytes, std::int64_t rows) {
  const auto fitting =
      std::bit_floor(std::max<std::size_t>(1, kChunkBytes / std::max<std::size_t>(1, row_bytes)));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1,
                                  std::min(kMostChunkRows, std::max<std::int64_t>(1, rows)));
}

struct TableWriter::Impl {
  const Fs& disk;
  fs::path target;
  H5Scratch scratch;
  std::map<std::string, H5Dataset, std::less<>> scales;
  std::map<std::string, hsize_t, std::less<>> sizes;
  std::vector<H5Dataset> declared;  // kept open until their numbers are written

  std::vector<hsize_t> shape(const std::vector<std::string>& dims) const {
    std::vector<hsize_t> out;
    for (const std::string& dim : dims) {
      const auto at = sizes.find(dim);
      if (at == sizes.end()) throw Error("axis '" + dim + "' was not made before its columns");
      out.push_back(at->second);
    }
    return out;
  }

  /// A dataset with its fill value and attributes, chunked when chunk_rows > 0. Texts need no fill
  /// value: HDF5's own is the empty text.
  H5Dataset make(const VariableColumn& column, const std::vector<hsize_t>& shape,
                 std::int64_t chunk_rows) {
    const H5Props props(h5_check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    const H5Type type = file_type(column.type);
    const std::vector<std::byte> fill = fill_item(column.type, column.item_bytes);
    if (column.type != DataType::Text) {
      h5_check(H5Pset_fill_value(props.get(), type.get(), fill.data()), "H5Pset_fill_value");
    }
    h5_check(H5Pset_obj_track_times(props.get(), false), "H5Pset_obj_track_times");
    if (chunk_rows > 0) {
      std::vector<hsize_t> chunk = shape;
      chunk[0] = static_cast<hsize_t>(chunk_rows);
      h5_check(H5Pset_chunk(props.get(), static_cast<int>(chunk.size()), chunk.data()),
               "H5Pset_chunk");
      h5_check(H5Pset_shuffle(props.get()), "H5Pset_shuffle");
      h5_check(H5Pset_deflate(props.get(), kDeflateLevel), "H5Pset_deflate");
      h5_check(H5Pset_fletcher32(props.get()), "H5Pset_fletcher32");
    }
    const H5Space space = h5_space(shape);
    H5Dataset set(h5_check(H5Dcreate2(scratch.file(), column.name.c_str(), type.get(), space.get(),
                                      H5P_DEFAULT, props.get(), H5P_DEFAULT),
                           "H5Dcreate2"));
    for (const auto& [name, value] : column.attributes) put_attribute(set.get(), name, value);
    if (is_float(column.type)) h5_put(set.get(), "_FillValue", type, fill.data());
    return set;
  }

  void attach(const H5Dataset& set, const std::vector<std::string>& dims) {
    for (unsigned i = 0; i < dims.size(); ++i) {
      const auto scale = scales.find(dims[i]);
      h5_check(H5DSattach_scale(set.get(), scale->second.get(), i), "H5DSattach_scale");
    }
  }

  static void write(const H5Dataset& set, const VariableColumn& column) {
    if (column.type == DataType::Text) return h5_write_texts(set.get(), column.texts());
    const H5Type type = file_type(column.type);
    h5_check(H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, column.bytes.data()),
             "H5Dwrite");
  }

  void close() {
    for (H5Dataset& set : declared) h5_close(set, &H5Dclose, "H5Dclose");
    for (auto& [name, set] : scales) h5_close(set, &H5Dclose, "H5Dclose");
    scratch.close();
  }

  std::vector<std::byte> sealed_bytes(std::int64_t generation) const {
    std::vector<std::byte> bytes = scratch.bytes();
    seal_image(bytes, generation);
    return bytes;
  }
};

TableWriter::TableWriter(const fs::path& target, std::uint64_t expected_bytes, const Fs& disk)
    : impl_(new Impl{.disk = disk,
                     .target = target,
                     .scratch = H5Scratch(target.parent_path(), expected_bytes, disk),
                     .scales = {},
                     .sizes = {},
                     .declared = {}}) {}

TableWriter::~TableWriter() = default;

void TableWriter::attributes(const Attributes& attributes) {
  const H5Group root(h5_check(H5Gopen2(impl_->scratch.file(), "/", H5P_DEFAULT), "H5Gopen2"));
  for (const auto& [name, value] : attributes) put_attribute(root.get(), name, value);
}

void TableWriter::axis(const VariableColumn& coordinate) {
  const hsize_t size = coordinate.items();
  H5Dataset set = impl_->make(coordinate, {size}, 0);
  Impl::write(set, coordinate);
  h5_check(H5DSset_scale(set.get(), coordinate.name.c_str()), "H5DSset_scale");
  impl_->sizes[coordinate.name] = size;
  impl_->scales[coordinate.name] = std::move(set);
}

void TableWriter::column(const VariableColumn& column) {
  const std::vector<hsize_t> shape = impl_->shape(column.dims);
  std::size_t items = 1;
  for (const hsize_t size : shape) items *= size;
  if (items * column.item_bytes != column.bytes.size()) {
    throw Error("column '" + column.name + "' has " + std::to_string(column.items()) +
                " values, its axes require " + std::to_string(items));
  }
  // Filters would see the references of texts only.
  const bool filtered = column.type != DataType::Text && column.dims.size() > 1 &&
                        column.bytes.size() >= kFilteredFrom;
  const auto rows = static_cast<std::int64_t>(shape.empty() ? 1 : shape[0]);
  H5Dataset set = impl_->make(
      column, shape,
      filtered ? chunk_rows(column.bytes.size() / static_cast<std::size_t>(rows), rows) : 0);
  Impl::write(set, column);
  impl_->attach(set, column.dims);
  h5_close(set, &H5Dclose, "H5Dclose");
}

std::size_t TableWriter::declare(const VariableColumn& column, std::int64_t chunk_rows) {
  if (column.type == DataType::Text) {
    throw Error("column '" + column.name + "': texts are written whole");
  }
  H5Dataset set = impl_->make(column, impl_->shape(column.dims), chunk_rows);
  impl_->attach(set, column.dims);
  impl_->declared.push_back(std::move(set));
  return impl_->declared.size() - 1;
}

void TableWriter::write_chunk(std::size_t column, std::int64_t first_row,
                              std::span<const std::byte> encoded) {
  std::array<hsize_t, H5S_MAX_RANK> offset{};
  offset[0] = static_cast<hsize_t>(first_row);
  h5_check(H5Dwrite_chunk(impl_->declared.at(column).get(), H5P_DEFAULT, 0, offset.data(),
                          encoded.size(), encoded.data()),
           "H5Dwrite_chunk");
}

void TableWriter::write_whole(std::size_t column, std::span<const std::byte> bytes) {
  const H5Dataset& set = impl_->declared.at(column);
  const H5Type type(h5_check(H5Dget_type(set.get()), "H5Dget_type"));
  h5_check(H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()),
           "H5Dwrite");
}

void TableWriter::replace(std::int64_t generation) {
  impl_->close();
  if (impl_->scratch.named()) {
    impl_->scratch.seal_in_place(generation);
    install_replace(impl_->target, impl_->scratch.hand_over(), impl_->disk);
  } else {
    publish_replace(impl_->target, impl_->sealed_bytes(generation), impl_->disk);
  }
}

bool TableWriter::publish_once(std::int64_t generation) {
  impl_->close();
  if (impl_->scratch.named()) {
    impl_->scratch.seal_in_place(generation);
    return install_once(impl_->target, impl_->scratch.hand_over(), impl_->disk);
  }
  return depthgrid::publish_once(impl_->target, impl_->sealed_bytes(generation), impl_->disk);
}

void write_table(TableWriter& writer, const ColumnTable& table) {
  writer.attributes(table.attributes);
  for (const Dimension& d : dimensions()) {
    const auto size = table.sizes.find(d.name);
    if (size == table.sizes.end()) continue;
    const VariableColumn* own = table.find(d.name);
    writer.axis(own != nullptr ? *own : coordinate(d, size->second));
  }
  for (const VariableColumn& column : table.columns) {
    if (!table.sizes.contains(column.name)) writer.column(column);
  }
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  h5_check(H5get_libversion(&major, &minor, &release), "H5get_libversion");
  return fmt::format("{}.{}.{}", major, minor, release);
}

std::uint64_t table_bytes(const ColumnTable& table) {
  std::uint64_t out = 0;
  for (const VariableColumn& column : table.columns) out += column.bytes.size();
  return out;
}

}  // namespace depthgrid
