#include "storage/hdf5/h5_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::uint64_t kChunkBytes = 512U << 10U;
constexpr unsigned kDeflateLevel = 4;

struct KindInfo {
  H5Kind kind;
  hid_t type;
  std::int64_t lowest;  // of integers
  std::int64_t highest;
};

/// HDF5's types are variables, so the table is made at each call.
template <class T>
KindInfo integer_kind(H5Kind kind, hid_t type) {
  return {kind, type, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

std::array<KindInfo, 6> kind_table() {
  return {{{H5Kind::F4, H5T_IEEE_F32LE, 0, 0},
           {H5Kind::F8, H5T_IEEE_F64LE, 0, 0},
           integer_kind<std::int8_t>(H5Kind::I1, H5T_STD_I8LE),
           integer_kind<std::int32_t>(H5Kind::I4, H5T_STD_I32LE),
           integer_kind<std::int64_t>(H5Kind::I8, H5T_STD_I64LE),
           integer_kind<std::uint8_t>(H5Kind::U1, H5T_STD_U8LE)}};
}

void set_fill(hid_t properties, H5Kind kind) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr int kAbsent = -1;
  const bool real = kind == H5Kind::F4 || kind == H5Kind::F8;
  if (real) {
    h5_check(H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &kNan), "H5Pset_fill_value");
  } else if (kind != H5Kind::U1) {
    h5_check(H5Pset_fill_value(properties, H5T_NATIVE_INT, &kAbsent), "H5Pset_fill_value");
  }
}

}  // namespace

hid_t h5_file_type(H5Kind kind) {
  for (const KindInfo& info : kind_table()) {
    if (info.kind == kind) return info.type;
  }
  throw Error("unknown kind of number");
}

H5Kind h5_kind_of(hid_t type) {
  for (const KindInfo& info : kind_table()) {
    if (H5Tequal(type, info.type) > 0) return info.kind;
  }
  return H5Kind::F8;
}

std::uint64_t h5_count(std::span<const hsize_t> shape) {
  std::uint64_t n = 1;
  for (const hsize_t size : shape) n *= size;
  return n;
}

std::vector<hsize_t> h5_chunk(std::size_t element_bytes, std::span<const hsize_t> shape) {
  std::vector<hsize_t> chunk(shape.size());
  std::uint64_t left = kChunkBytes / element_bytes;  // elements that still fit
  // From the innermost axis outwards: whole as long as it fits, then cut, then 1.
  for (std::size_t i = shape.size(); i-- > 0;) {
    chunk[i] = std::clamp<hsize_t>(shape[i], 1, std::max<hsize_t>(1, left));
    left /= chunk[i];
  }
  return chunk;
}

H5Props h5_dataset_properties(H5Kind kind, bool text, std::size_t element_bytes,
                              std::span<const hsize_t> shape) {
  H5Props properties(h5_check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
  const hid_t p = properties.get();
  h5_check(H5Pset_attr_creation_order(p, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
           "H5Pset_attr_creation_order");
  h5_check(H5Pset_obj_track_times(p, false), "H5Pset_obj_track_times");  // same content, same bytes
  if (!text) set_fill(p, kind);
  if (shape.empty() || h5_count(shape) * element_bytes < kFilteredBytes) return properties;
  const std::vector<hsize_t> chunk = h5_chunk(element_bytes, shape);
  h5_check(H5Pset_chunk(p, static_cast<int>(chunk.size()), chunk.data()), "H5Pset_chunk");
  const bool packed_bits = !text && kind == H5Kind::U1;
  if (!packed_bits) h5_check(H5Pset_shuffle(p), "H5Pset_shuffle");
  h5_check(H5Pset_deflate(p, kDeflateLevel), "H5Pset_deflate");
  if (!packed_bits) h5_check(H5Pset_fletcher32(p), "H5Pset_fletcher32");
  return properties;
}

H5Space h5_space(std::span<const hsize_t> shape) {
  if (shape.empty()) return H5Space(h5_check(H5Screate(H5S_SCALAR), "H5Screate"));
  return H5Space(h5_check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                          "H5Screate_simple"));
}

std::size_t h5_text_width(std::span<const std::string> values, std::size_t least) {
  constexpr std::size_t kStep = 8;
  std::size_t longest = std::max(least, kStep);
  for (const std::string& v : values) longest = std::max(longest, v.size());
  return (longest + kStep - 1) / kStep * kStep;
}

std::vector<char> h5_pad(std::span<const std::string> values, std::size_t width) {
  std::vector<char> out(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].size() > width) {
      throw Error(fmt::format("text of {} bytes does not fit {}", values[i].size(), width));
    }
    std::memcpy(out.data() + i * width, values[i].data(), values[i].size());
  }
  return out;
}

std::vector<std::int64_t> h5_to_integers(std::span<const double> values) {
  constexpr double kLimit = 9.2e18;
  std::vector<std::int64_t> out;
  out.reserve(values.size());
  for (const double v : values) {
    if (std::abs(v) > kLimit) throw Error(fmt::format("{} is no 64-bit integer", v));
    out.push_back(std::isnan(v) ? -1 : static_cast<std::int64_t>(v));
  }
  return out;
}

void h5_check_range(H5Kind kind, std::span<const std::int64_t> values, const std::string& name) {
  for (const KindInfo& info : kind_table()) {
    if (info.kind != kind || info.lowest == info.highest) continue;
    for (const std::int64_t v : values) {
      if (v < info.lowest || v > info.highest) {
        throw Error(fmt::format("variable '{}': {} is outside [{}, {}]", name, v, info.lowest,
                                info.highest));
      }
    }
  }
}

}  // namespace depthgrid
