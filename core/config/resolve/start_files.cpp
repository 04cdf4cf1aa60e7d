#include "core/config/resolve/start_files.hpp"

#include <algorithm>
#include <system_error>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"

namespace depthgrid {

namespace fs = std::filesystem;

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
                       "there is no such file, and no folder with model.safetensors (relative to "
                       "the working directory); its content is part of the cells' identity",
                       ExitCode::NoInput);
  }
  std::vector<fs::path> files = {weights};
  if (fs::is_regular_file(path / "config.json", problem)) {
    files.insert(files.begin(), path / "config.json");
  }
  return files;
}

std::string start_digest(const fs::path& path) {
  const std::vector<fs::path> files = start_files(path);
  std::string digests;
  for (const fs::path& file : files) digests += hex(sha256_file(file));
  return files.size() == 1 ? digests : hex(sha256(std::string_view(digests)));
}

}  // namespace depthgrid
