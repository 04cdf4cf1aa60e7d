#include "storage/columns/table_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hdf5.h>

#include "core/base/error.hpp"
#include "storage/columns/variables.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_handles.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

DataType data_type(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t size = H5Tget_size(type);
  if (kind == H5T_STRING) return DataType::Text;
  if (kind == H5T_FLOAT && size == 4) return DataType::Float32;
  if (kind == H5T_FLOAT && size == 8) return DataType::Float64;
  if (kind == H5T_INTEGER && size == 1) return DataType::Int8;
  if (kind == H5T_INTEGER && size == 4) return DataType::Int32;
  if (kind == H5T_INTEGER && size == 8) return DataType::Int64;
  throw Error("a type that depthgrid does not write");
}

}  // namespace

std::vector<std::string> axes_of_column(std::string_view name) {
  if (const Variable* v = find_variable(name)) return axes_of(*v);
  const auto axis = std::ranges::find(dimensions(), name, &Dimension::name);
  return {axis == dimensions().end() ? "cell" : std::string(name)};
}

struct TableReader::Impl {
  fs::path path;
  H5File file;
  std::vector<std::string> names;

  /// Any HDF5 error in a sealed file means damage; the message names the file.
  template <class Work>
  auto guarded(const std::string& what, Work work) const {
    try {
      return work();
    } catch (const UserError&) {
      throw;
    } catch (const Error& error) {
      throw StorageError(path, what + ": " + error.what(), ExitCode::BadData);
    }
  }

  H5Dataset open(const std::string& name) const {
    return H5Dataset(h5_check(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), "H5Dopen2"));
  }

  static ColumnShape shape_of(const H5Dataset& set) {
    const H5Type type(h5_check(H5Dget_type(set.get()), "H5Dget_type"));
    const std::vector<hsize_t> extents = h5_extents(set.get());
    ColumnShape out;
    out.type = data_type(type.get());
    out.item_bytes = out.type == DataType::Text ? 0 : H5Tget_size(type.get());
    out.extents.assign(extents.begin(), extents.end());
    return out;
  }

  /// Type of the numbers in memory: that of the file, in this machine's byte order.
  static H5Type memory_type(const H5Dataset& set) {
    const H5Type type(h5_check(H5Dget_type(set.get()), "H5Dget_type"));
    return H5Type(h5_check(H5Tget_native_type(type.get(), H5T_DIR_ASCEND), "H5Tget_native_type"));
  }
};

TableReader::TableReader(const fs::path& file, SealCheck check, const Fs& disk)
    : impl_(std::make_unique<Impl>()) {
  h5_quiet();
  impl_->path = file;
  if (check == SealCheck::Whole) {
    verify_sealed_file(file, disk);
  } else if (!peek_seal(file, disk)) {
    throw StorageError(file, "has no sound seal", ExitCode::BadData);
  }
  impl_->guarded("cannot be opened", [&] {
    const H5Props access = h5_file_access();
    impl_->file.reset(h5_check(H5Fopen(file.c_str(), H5F_ACC_RDONLY, access.get()), "H5Fopen"));
    impl_->names = h5_member_names(impl_->file.get());
  });
}

TableReader::~TableReader() = default;
TableReader::TableReader(TableReader&&) noexcept = default;
TableReader& TableReader::operator=(TableReader&&) noexcept = default;

const std::vector<std::string>& TableReader::names() const {
  return impl_->names;
}

bool TableReader::has(std::string_view name) const {
  return std::ranges::find(impl_->names, name) != impl_->names.end();
}

ColumnShape TableReader::shape(const std::string& name) const {
  return impl_->guarded(name, [&] {
    const H5Dataset set = impl_->open(name);
    ColumnShape out = Impl::shape_of(set);
    const H5Props props(h5_check(H5Dget_create_plist(set.get()), "H5Dget_create_plist"));
    if (H5Pget_layout(props.get()) == H5D_CHUNKED) {
      std::array<hsize_t, H5S_MAX_RANK> chunk{};
      h5_check(H5Pget_chunk(props.get(), H5S_MAX_RANK, chunk.data()), "H5Pget_chunk");
      out.chunk_rows = static_cast<std::int64_t>(chunk[0]);
    }
    return out;
  });
}

VariableColumn TableReader::read(const std::string& name) const {
  return impl_->guarded(name, [&] {
    const H5Dataset set = impl_->open(name);
    const ColumnShape shape = Impl::shape_of(set);
    std::vector<std::string> dims = axes_of_column(name);
    const Variable* v = find_variable(name);
    if (dims.size() != shape.extents.size() || (v != nullptr && v->type != shape.type)) {
      throw Error("has other axes or another type than this version of depthgrid writes");
    }
    if (shape.type == DataType::Text) {
      return text_column(name, std::move(dims), h5_read_texts(set.get()));
    }
    VariableColumn out{.name = name,
                       .dims = std::move(dims),
                       .type = shape.type,
                       .item_bytes = shape.item_bytes,
                       .bytes = {},
                       .attributes = {}};
    std::size_t items = 1;
    for (const std::int64_t extent : shape.extents) items *= static_cast<std::size_t>(extent);
    out.bytes.resize(items * out.item_bytes);
    const H5Type type = Impl::memory_type(set);
    h5_check(H5Dread(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.bytes.data()),
             "H5Dread");
    return out;
  });
}

std::vector<std::byte> TableReader::read_rows(const std::string& name, std::int64_t first,
                                              std::int64_t count) const {
  return impl_->guarded(name, [&] {
    const H5Dataset set = impl_->open(name);
    const ColumnShape shape = Impl::shape_of(set);
    if (shape.type == DataType::Text) throw Error("texts are read whole");
    std::vector<hsize_t> start(shape.extents.size(), 0);
    std::vector<hsize_t> extents(shape.extents.begin(), shape.extents.end());
    start[0] = static_cast<hsize_t>(first);
    extents[0] = static_cast<hsize_t>(count);
    std::size_t items = 1;
    for (const hsize_t extent : extents) items *= extent;
    const H5Space on_disk(h5_check(H5Dget_space(set.get()), "H5Dget_space"));
    h5_check(H5Sselect_hyperslab(on_disk.get(), H5S_SELECT_SET, start.data(), nullptr,
                                 extents.data(), nullptr),
             "H5Sselect_hyperslab");
    const H5Space in_memory = h5_space(extents);
    std::vector<std::byte> out(items * shape.item_bytes);
    const H5Type type = Impl::memory_type(set);
    h5_check(
        H5Dread(set.get(), type.get(), in_memory.get(), on_disk.get(), H5P_DEFAULT, out.data()),
        "H5Dread");
    return out;
  });
}

std::optional<std::vector<std::byte>> TableReader::read_chunk(const std::string& name,
                                                              std::int64_t first_row) const {
  return impl_->guarded(name, [&]() -> std::optional<std::vector<std::byte>> {
    const H5Dataset set = impl_->open(name);
    std::array<hsize_t, H5S_MAX_RANK> offset{};
    offset[0] = static_cast<hsize_t>(first_row);
    hsize_t size = 0;
    haddr_t address = HADDR_UNDEF;
    unsigned skipped = 0;
    h5_check(H5Dget_chunk_info_by_coord(set.get(), offset.data(), &skipped, &address, &size),
             "H5Dget_chunk_info_by_coord");
    if (address == HADDR_UNDEF || size == 0) return std::nullopt;
    std::vector<std::byte> out(size);
    std::uint32_t skipped_filters = 0;
    h5_check(H5Dread_chunk(set.get(), H5P_DEFAULT, offset.data(), &skipped_filters, out.data()),
             "H5Dread_chunk");
    if (skipped_filters != 0) return std::nullopt;
    return out;
  });
}

std::optional<std::string> TableReader::text_attribute(const std::string& name) const {
  return impl_->guarded(name, [&] { return h5_text(impl_->file.get(), name); });
}

std::optional<std::int64_t> TableReader::integer_attribute(const std::string& name) const {
  return impl_->guarded(name, [&] { return h5_integer(impl_->file.get(), name); });
}

std::string TableReader::required_text(const std::string& name) const {
  std::optional<std::string> out = text_attribute(name);
  if (!out)
    throw StorageError(impl_->path, "lacks the attribute '" + name + "'", ExitCode::BadData);
  return *out;
}

}  // namespace depthgrid
