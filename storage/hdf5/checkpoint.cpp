#include "storage/hdf5/checkpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/parse_number.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_handles.hpp"
#include "storage/hdf5/h5_scratch.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormatName = "depthgrid-checkpoint";
constexpr std::int64_t kFormat = 1;
const char* const kTensors = "weights";
const char* const kNumbers = "numbers";
const char* const kTexts = "texts";
const char* const kDigest = "sha256";

constexpr std::string_view kStem = "ckpt-";
constexpr std::string_view kSuffix = ".h5";

std::string file_name(std::int64_t step, std::int64_t generation) {
  return fmt::format("{}{:08}-{:06}{}", kStem, step, generation, kSuffix);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<CheckpointFile> parse_name(const fs::path& file) {
  const std::string name = file.filename();
  if (!name.starts_with(kStem) || !name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view middle =
      std::string_view(name).substr(kStem.size(), name.size() - kStem.size() - kSuffix.size());
  const std::size_t dash = middle.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto step = whole_number(middle.substr(0, dash));
  const auto generation = whole_number(middle.substr(dash + 1));
  if (!step || !generation) return std::nullopt;
  return CheckpointFile{*step, *generation, file};
}

/// Moves a bad file out of the way, with the reason beside it; if that fails, it simply stays.
void quarantine(const CheckpointFile& bad, const std::string& reason, const Fs& disk) {
  try {
    const fs::path folder = bad.file.parent_path() / "corrupt";
    make_folders(folder, disk);
    publish_replace(folder / (bad.file.filename().string() + ".reason.txt"), reason + "\n", disk);
    const int error = disk.rename(bad.file, folder / bad.file.filename());
    if (error != 0) throw_errno(bad.file, "cannot be moved to corrupt/", error, 0, disk);
  } catch (const std::exception& e) {
    log(LogLevel::Warning, e.what());
  }
}

void prune(const fs::path& cell_dir, int keep_last, std::span<const std::int64_t> kept_steps,
           const Fs& disk) {
  std::set<std::int64_t> steps;  // newest first, as listed
  const auto newest = static_cast<std::size_t>(std::max(2, keep_last));
  for (const CheckpointFile& file : list_checkpoints(cell_dir, disk)) {
    const bool new_step = steps.insert(file.step).second;
    const bool wanted = std::ranges::find(kept_steps, file.step) != kept_steps.end();
    if (new_step && (steps.size() <= newest || wanted)) continue;
    disk.remove(file.file);  // a surplus file that stays does no harm
  }
}

std::string digest_of(std::span<const float> data) {
  return hex(sha256(std::as_bytes(data)));
}

H5Group make_group(hid_t file, const char* name) {
  const H5Props p(h5_check(H5Pcreate(H5P_GROUP_CREATE), "H5Pcreate"));
  h5_keep_order(p);
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

/// Bytes of a sealed checkpoint: attributes of the root (format, format_version, step, generation,
/// config_digest), groups `numbers` and `texts` with one attribute per entry, and group `weights`
/// with one contiguous float32 dataset per tensor, whose attribute `sha256` is the digest of its
/// bytes in memory. Large files are built in `cell_dir`.
std::vector<std::byte> checkpoint_image(const fs::path& cell_dir, std::int64_t generation,
                                        const CheckpointData& data, const Fs& disk) {
  std::uint64_t bytes = 0;
  for (const TensorView& tensor : data.tensors) bytes += tensor.data.size_bytes();
  H5Scratch scratch(cell_dir, bytes, disk);
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

/// Reads a whole checkpoint and compares each tensor with its digest.
/// @throws StorageError (BadData) with the reason, also if HDF5 rejects the file.
LoadedCheckpoint read_checkpoint(const CheckpointFile& at, const std::string& config_digest,
                                 const Fs& disk) {
  h5_quiet();
  const SealInfo seal = verify_sealed_file(at.file, disk);
  try {
    return load(at, seal.generation, config_digest);
  } catch (const Error& error) {  // a sealed file that HDF5 rejects is damaged
    throw StorageError(at.file, error.what(), ExitCode::BadData);
  }
}

}  // namespace

std::vector<CheckpointFile> list_checkpoints(const fs::path& cell_dir, const Fs& disk) {
  std::vector<CheckpointFile> files;
  for (const fs::path& entry : disk.entries(cell_dir)) {
    if (auto file = parse_name(entry)) files.push_back(std::move(*file));
  }
  std::ranges::sort(files, [](const CheckpointFile& a, const CheckpointFile& b) {
    return std::pair(a.step, a.generation) > std::pair(b.step, b.generation);
  });
  return files;
}

std::int64_t newest_step(const fs::path& cell_dir, const Fs& disk) {
  const std::vector<CheckpointFile> files = list_checkpoints(cell_dir, disk);
  return files.empty() ? 0 : files.front().step;
}

fs::path publish_checkpoint(const fs::path& cell_dir, std::int64_t generation,
                            const CheckpointData& data, int keep_last,
                            std::span<const std::int64_t> kept_steps, const Fs& disk) {
  const fs::path target = cell_dir / file_name(data.step, generation);
  const std::vector<std::byte> image = checkpoint_image(cell_dir, generation, data, disk);
  publish_replace(target, image, disk);
  if (!file_equals(target, image, disk)) {
    disk.remove(target);
    throw StorageError(target, "reads back differently from what was written: check the disk");
  }
  prune(cell_dir, keep_last, kept_steps, disk);
  return target;
}

CheckpointSearch newest_checkpoint(const fs::path& cell_dir, const std::string& config_digest,
                                   const CheckpointObjection& objection, const Fs& disk) {
  CheckpointSearch search;
  for (const CheckpointFile& file : list_checkpoints(cell_dir, disk)) {
    try {
      LoadedCheckpoint found = read_checkpoint(file, config_digest, disk);
      const std::string why = objection ? objection(found) : "";
      if (!why.empty()) throw StorageError(file.file, why, ExitCode::BadData);
      search.found = std::move(found);
      return search;
    } catch (const StorageError& e) {
      search.rejected.push_back(file.file.filename().string() + ": " + e.what());
      if (e.code() == ExitCode::BadData) quarantine(file, e.what(), disk);
    }
  }
  return search;
}

std::optional<LoadedCheckpoint> checkpoint_at(const fs::path& cell_dir,
                                              const std::string& config_digest, std::int64_t step,
                                              const Fs& disk) {
  for (const CheckpointFile& file : list_checkpoints(cell_dir, disk)) {
    if (file.step != step) continue;
    try {
      return read_checkpoint(file, config_digest, disk);
    } catch (const StorageError& e) {
      log(LogLevel::Warning, e.what());
    }
  }
  return std::nullopt;
}

}  // namespace depthgrid
