#include "worker/weights/exported_config.hpp"

#include "core/base/error.hpp"
#include "core/config/start_name.hpp"
#include "worker/weights/safetensors.hpp"

namespace depthgrid {

std::optional<CellConfig> exported_config(const std::filesystem::path& path) {
  const SafetensorsFile file(start_files(path).back());
  const auto at = file.metadata().find("config");
  if (at == file.metadata().end()) return std::nullopt;
  try {
    return config_from_json(at->second);
  } catch (const UserError&) {
    return std::nullopt;  // of another release
  }
}

}  // namespace depthgrid
