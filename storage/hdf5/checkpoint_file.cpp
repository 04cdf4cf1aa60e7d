#include "storage/hdf5/checkpoint_file.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_attributes.hpp"
#include "storage/hdf5/h5_scratch.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kFormatName = "depthgrid-checkpoint";
constexpr std::int64_t kFormat = 1;
const char* const kTensors = "weights";
const char* const kNumbers = "numbers";
const char* const kTexts = "texts";
const char* const kDigest = "sha256";

std::string digest_of(std::span<const float> data) {
  return hex(sha256(std::as_bytes(data)));
}

H5Group make_group(hid_t file, const char* name) {
  const H5Props p(h5_check(H5Pcreate(H5P_GROUP_CREATE), "H5Pcreate"));
  constexpr unsigned kTracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  h5_check(H5Pset_link_creation_order(p.get(), kTracked), "H5Pset_link_creation_order");
  h5_check(H5Pset_attr_creation_order(p.get(), kTracked), "H5Pset_attr_creation_order");
  h5_check(H5Pset_obj_track_times(p.get(), false), "H5Pset_obj_track_times");
  return H5Group(h5_check(H5Gcreate2(file, name, H5P_DEFAULT, p.get(), H5P_DEFAULT), "H5Gcreate2"));
}

template <class Values>
void put_all(hid_t file, const char* name, const Values& values) {
  H5Group group = make_group(file, name);
  for (const auto& [key, value] : values) h5_put(group.get(), key, value);
  h5_close(group, &H5Gclose, "H5Gclose");
}

void put_tensor(hid_t group, const TensorView& tensor) {
  if (tensor.name.empty() || tensor.name.find('/') != std::string::npos) {
    throw Error("checkpoint: '" + tensor.name + "' cannot be the name of a tensor");
  }
  const std::string digest = digest_of(tensor.data);  // of memory, before HDF5 sees it
  const std::vector<hsize_t> extents(tensor.shape.begin(), tensor.shape.end());
  std::size_t count = 1;
  for (const hsize_t extent : extents) count *= extent;
  if (count != tensor.data.size()) {
    throw Error(fmt::format("checkpoint: tensor '{}' has {} values, its shape wants {}",
                            tensor.name, tensor.data.size(), count));
  }
  const H5Props p(h5_check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
  h5_check(H5Pset_obj_track_times(p.get(), false), "H5Pset_obj_track_times");
  H5Dataset set(h5_check(H5Dcreate2(group, tensor.name.c_str(), H5T_IEEE_F32LE,
                                    h5_space(extents).get(), H5P_DEFAULT, p.get(), H5P_DEFAULT),
                         ("H5Dcreate2 " + tensor.name).c_str()));
  if (count > 0) {
    h5_check(
        H5Dwrite(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.data.data()),
        ("H5Dwrite " + tensor.name).c_str());
  }
  h5_put(set.get(), kDigest, digest);
  h5_close(set, &H5Dclose, "H5Dclose");
}

LoadedTensor load_tensor(hid_t group, const std::string& name) {
  const H5Dataset set(h5_check(H5Dopen2(group, name.c_str(), H5P_DEFAULT), "H5Dopen2"));
  const std::vector<hsize_t> extents = h5_extents(set.get());
  std::size_t count = 1;
  for (const hsize_t extent : extents) count *= extent;
  LoadedTensor out{name, {extents.begin(), extents.end()}, std::vector<float>(count)};
  if (count > 0) {
    h5_check(H5Dread(set.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data.data()),
             "H5Dread");
  }
  if (digest_of(out.data) != h5_text(set.get(), kDigest)) {
    throw Error("tensor '" + name + "' differs from its digest");
  }
  return out;
}

/// A value that every checkpoint has. @throws Error naming it if it is absent.
template <class T>
T required(std::optional<T> value, const char* name) {
  if (!value) throw Error("has no attribute '" + std::string(name) + "'");
  return std::move(*value);
}

LoadedCheckpoint load(const CheckpointFile& at, std::int64_t sealed_generation,
                      const std::string& config_digest) {
  const H5File file(
      h5_check(H5Fopen(at.file.c_str(), H5F_ACC_RDONLY, h5_file_access().get()), "H5Fopen"));
  const auto group = [&file](const char* name) {
    return H5Group(h5_check(H5Gopen2(file.get(), name, H5P_DEFAULT), "H5Gopen2"));
  };
  const auto integer = [&file](const char* name) {
    return required(h5_integer(file.get(), name), name);
  };
  const auto text = [&file](const char* name) { return required(h5_text(file.get(), name), name); };
  if (text("format") != kFormatName) throw Error("is not a checkpoint");
  if (integer("format_version") != kFormat) throw Error("unknown format version");
  LoadedCheckpoint out;
  out.step = integer("step");
  out.generation = integer("generation");
  if (out.step != at.step || out.generation != at.generation ||
      sealed_generation != at.generation) {
    throw Error("name and content disagree about step or generation");
  }
  const std::string digest = text("config_digest");
  if (digest != config_digest) {
    throw Error(fmt::format("is of configuration {}, this cell's is {}", digest, config_digest));
  }
  const H5Group numbers = group(kNumbers), texts = group(kTexts), tensors = group(kTensors);
  for (const std::string& name : h5_attribute_names(numbers.get())) {
    out.numbers[name] = required(h5_number(numbers.get(), name), name.c_str());
  }
  for (const std::string& name : h5_attribute_names(texts.get())) {
    out.texts[name] = required(h5_text(texts.get(), name), name.c_str());
  }
  for (const std::string& name : h5_member_names(tensors.get())) {
    out.tensors.push_back(load_tensor(tensors.get(), name));
  }
  return out;
}

}  // namespace

std::vector<std::byte> checkpoint_image(const std::filesystem::path& cell_dir,
                                        std::int64_t generation, const CheckpointData& data) {
  std::uint64_t bytes = 0;
  for (const TensorView& tensor : data.tensors) bytes += tensor.data.size_bytes();
  H5Scratch scratch(cell_dir, bytes);
  const hid_t file = scratch.file();
  h5_put(file, "format", std::string(kFormatName));
  h5_put(file, "format_version", kFormat);
  h5_put(file, "step", data.step);
  h5_put(file, "generation", generation);
  h5_put(file, "config_digest", data.config_digest);
  put_all(file, kNumbers, data.numbers);
  put_all(file, kTexts, data.texts);
  H5Group tensors = make_group(file, kTensors);
  for (const TensorView& tensor : data.tensors) put_tensor(tensors.get(), tensor);
  h5_close(tensors, &H5Gclose, "H5Gclose");
  scratch.close();
  std::vector<std::byte> image = scratch.bytes();
  seal_image(image, generation);
  return image;
}

LoadedCheckpoint read_checkpoint(const CheckpointFile& at, const std::string& config_digest) {
  h5_quiet();
  const SealInfo seal = verify_sealed_file(at.file);
  try {
    return load(at, seal.generation, config_digest);
  } catch (const Error& error) {  // a sealed file that HDF5 rejects is damaged
    throw StorageError(at.file, error.what(), ExitCode::BadData);
  }
}

}  // namespace depthgrid
