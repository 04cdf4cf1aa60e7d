#include "storage/hdf5/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_read.hpp"
#include "storage/hdf5/h5_write.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormatName = "depthgrid-checkpoint";
constexpr std::int64_t kFormat = 1;
constexpr std::string_view kStem = "ckpt-";
constexpr std::string_view kSuffix = ".h5";
const char* const kTensors = "weights";
const char* const kNumbers = "numbers";
const char* const kTexts = "texts";
const char* const kDigest = "sha256";

std::string file_name(std::int64_t step, std::int64_t generation) {
  return fmt::format("{}{:08}-{:06}{}", kStem, step, generation, kSuffix);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && end == text.data() + text.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
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

std::string digest_of(std::span<const float> data) {
  return hex(sha256(std::as_bytes(data)));
}

std::vector<std::byte> image_of(const fs::path& cell_dir, std::int64_t generation,
                                const CheckpointData& data) {
  std::uint64_t bytes = 0;
  for (const TensorView& t : data.tensors) bytes += t.data.size_bytes();
  H5Builder file(cell_dir, bytes);
  file.attribute("", "format", std::string(kFormatName));
  file.attribute("", "format_version", kFormat);
  file.attribute("", "step", data.step);
  file.attribute("", "generation", generation);
  file.attribute("", "config_digest", data.config_digest);
  file.group(kNumbers);
  for (const auto& [name, value] : data.numbers) file.attribute(kNumbers, name, value);
  file.group(kTexts);
  for (const auto& [name, value] : data.texts) file.attribute(kTexts, name, value);
  file.group(kTensors);
  for (const TensorView& t : data.tensors) {
    if (t.name.empty() || t.name.find('/') != std::string::npos) {
      throw Error("checkpoint: '" + t.name + "' cannot be the name of a tensor");
    }
    const std::string path = fmt::format("{}/{}", kTensors, t.name);
    const std::string digest = digest_of(t.data);  // of memory, before HDF5 sees it
    file.tensor(path, t.shape, t.data);
    file.attribute(path, kDigest, digest);
  }
  return file.finish_sealed(generation);
}

/// Reads all of it, checking as it goes. @throws StorageError with the reason.
LoadedCheckpoint load(const CheckpointFile& at, const std::string& config_digest) {
  const auto refuse = [&at](const std::string& why) -> void {
    throw StorageError(at.file, why, ExitCode::BadData);
  };
  const H5Reader file(at.file);
  if (file.required_text("format") != kFormatName) refuse("is not a checkpoint");
  if (file.required_integer("format_version") != kFormat) refuse("unknown format version");
  LoadedCheckpoint out;
  out.step = file.required_integer("step");
  out.generation = file.required_integer("generation");
  if (out.step != at.step || out.generation != at.generation ||
      file.seal().generation != at.generation) {
    refuse("name and content disagree about step or generation");
  }
  const std::string digest = file.required_text("config_digest");
  if (digest != config_digest) {
    refuse(fmt::format("is of configuration {}, this cell's is {}", digest, config_digest));
  }
  for (const std::string& name : file.attribute_names(kNumbers)) {
    out.numbers[name] = file.number_attribute(kNumbers, name).value();
  }
  for (const std::string& name : file.attribute_names(kTexts)) {
    out.texts[name] = file.text_attribute(kTexts, name).value();
  }
  for (const H5VariableInfo& info : file.variables_of(kTensors)) {
    LoadedTensor tensor{info.name.substr(info.name.find('/') + 1), info.shape,
                        file.floats(info.name)};
    if (digest_of(tensor.data) != file.text_attribute(info.name, kDigest).value_or("")) {
      refuse("tensor '" + tensor.name + "' differs from its digest");
    }
    out.tensors.push_back(std::move(tensor));
  }
  return out;
}

/// Moves a bad file out of the way, with the reason beside it; if that fails it only stays.
void set_aside(const CheckpointFile& bad, const std::string& reason) {
  try {
    const fs::path folder = bad.file.parent_path() / "corrupt";
    make_folders(folder);
    publish_replace(folder / (bad.file.filename().string() + ".reason.txt"), reason + "\n");
    fs::rename(bad.file, folder / bad.file.filename());
  } catch (const std::exception& e) {
    log(LogLevel::Warning, e.what());
  }
}

void prune(const fs::path& cell_dir, int keep_last, std::span<const std::int64_t> kept_steps) {
  std::set<std::int64_t> steps;  // newest first, as listed
  const auto newest = static_cast<std::size_t>(std::max(2, keep_last));
  for (const CheckpointFile& file : list_checkpoints(cell_dir)) {
    const bool new_step = steps.insert(file.step).second;
    const bool wanted = std::ranges::find(kept_steps, file.step) != kept_steps.end();
    if (new_step && (steps.size() <= newest || wanted)) continue;
    std::error_code stays;  // a surplus file does no harm
    fs::remove(file.file, stays);
  }
}

}  // namespace

std::vector<CheckpointFile> list_checkpoints(const fs::path& cell_dir) {
  std::vector<CheckpointFile> files;
  std::error_code absent;
  for (fs::directory_iterator it(cell_dir, absent), end; !absent && it != end;
       it.increment(absent)) {
    if (auto file = parse_name(it->path())) files.push_back(std::move(*file));
  }
  std::ranges::sort(files, [](const CheckpointFile& a, const CheckpointFile& b) {
    return std::pair(a.step, a.generation) > std::pair(b.step, b.generation);
  });
  return files;
}

fs::path publish_checkpoint(const fs::path& cell_dir, std::int64_t generation,
                            const CheckpointData& data, int keep_last,
                            std::span<const std::int64_t> kept_steps) {
  const fs::path target = cell_dir / file_name(data.step, generation);
  const std::vector<std::byte> image = image_of(cell_dir, generation, data);
  publish_replace(target, image);
  if (!file_equals(target, image)) {
    std::error_code gone;
    fs::remove(target, gone);
    throw StorageError(target, "reads back differently from what was written: check the disk");
  }
  prune(cell_dir, keep_last, kept_steps);
  return target;
}

CheckpointSearch newest_checkpoint(const fs::path& cell_dir, const std::string& config_digest) {
  CheckpointSearch search;
  for (const CheckpointFile& file : list_checkpoints(cell_dir)) {
    try {
      search.found = load(file, config_digest);
      return search;
    } catch (const StorageError& e) {
      search.rejected.push_back(file.file.filename().string() + ": " + e.what());
      if (e.code() == ExitCode::BadData) set_aside(file, e.what());
    }
  }
  return search;
}

std::optional<LoadedCheckpoint> checkpoint_at(const fs::path& cell_dir,
                                              const std::string& config_digest, std::int64_t step) {
  for (const CheckpointFile& file : list_checkpoints(cell_dir)) {
    if (file.step != step) continue;
    try {
      return load(file, config_digest);
    } catch (const StorageError& e) {
      log(LogLevel::Warning, e.what());
    }
  }
  return std::nullopt;
}

}  // namespace depthgrid
