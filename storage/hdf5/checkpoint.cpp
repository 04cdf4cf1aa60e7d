#include "storage/hdf5/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/checkpoint_file.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "ckpt-";
constexpr std::string_view kSuffix = ".h5";

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

/// Moves a bad file out of the way, with the reason beside it; if that fails, it simply stays.
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
  const std::vector<std::byte> image = checkpoint_image(cell_dir, generation, data);
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
      search.found = read_checkpoint(file, config_digest);
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
      return read_checkpoint(file, config_digest);
    } catch (const StorageError& e) {
      log(LogLevel::Warning, e.what());
    }
  }
  return std::nullopt;
}

}  // namespace depthgrid
