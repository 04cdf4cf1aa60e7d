#include "core/config/start_name.hpp"

#include <algorithm>
#include <system_error>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/resolve/slots.hpp"

namespace depthgrid {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kArm = "arm:";
constexpr std::string_view kCell = "cell:";

}  // namespace

StartName start_name(const Value& value) {
  using Kind = StartName::Kind;
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return {};
  if (text->starts_with(kArm)) return {Kind::Arm, text->substr(kArm.size())};
  if (text->starts_with(kCell)) return {Kind::Cell, text->substr(kCell.size())};
  return {Kind::Files, *text};
}

std::optional<CellId> start_cell(const CellConfig& config) {
  StartName start = start_name(config.at("model.init.from"));
  if (start.kind != StartName::Kind::Cell) return std::nullopt;
  return std::move(start.name);
}

std::int64_t start_depth(const CellConfig& config) {
  const auto* depth = config.slot(start_depth_slot()).get_if<std::int64_t>();
  return depth == nullptr ? 0 : *depth;
}

std::string start_identity(const CellConfig& config) {
  if (const auto cell = start_cell(config)) return std::string(kCell) + *cell;
  const auto* digest = config.slot(start_digest_slot()).get_if<std::string>();
  return digest == nullptr ? "" : "file:" + *digest;
}

std::vector<fs::path> start_files(const fs::path& path) {
  constexpr std::string_view kPickles[] = {".bin", ".pt", ".pth", ".pkl", ".ckpt"};
  if (std::ranges::find(kPickles, path.extension().string()) != std::end(kPickles)) {
    throw UserError(ExitCode::BadData,
                    path.string() +
                        ": weights are read from safetensors files only, never from "
                        "pickles, which can run code: convert the file");
  }
  std::error_code problem;
  if (fs::is_regular_file(path, problem)) return {path};
  const fs::path weights = path / "model.safetensors";
  if (!fs::is_regular_file(weights, problem)) {
    throw StorageError(path.string(),
                       "there is no such file, and no folder with model.safetensors (paths are "
                       "relative to the sweep file, with --set to the working directory); its "
                       "content is part of the cells' identity",
                       ExitCode::NoInput);
  }
  std::vector<fs::path> files = {weights};
  if (fs::is_regular_file(path / "config.json", problem)) {
    files.insert(files.begin(), path / "config.json");
  }
  return files;
}

std::string files_digest(const std::vector<fs::path>& files) {
  std::vector<std::string> digests;
  for (const fs::path& file : files) digests.push_back(hex(sha256_file(file)));
  return joined_digest(digests);
}

std::string joined_digest(const std::vector<std::string>& digests) {
  if (digests.size() == 1) return digests.front();
  std::string all;
  for (const std::string& digest : digests) all += digest;
  return hex(sha256(std::string_view(all)));
}

}  // namespace depthgrid
