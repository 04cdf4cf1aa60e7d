#include "sweeps/plan/answer_cache.hpp"

#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {

std::optional<std::string> cached_answer(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void cache_answer(const std::filesystem::path& file, std::string_view text) {
  try {
    make_folders(file.parent_path());
    publish_replace(file, text);
  } catch (const Error&) {  // costs time only
  }
}

}  // namespace depthgrid
