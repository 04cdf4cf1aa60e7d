#include "sweeps/plan/kept_answers.hpp"

#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {

std::optional<std::string> kept_answer(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void keep_answer(const std::filesystem::path& file, std::string_view text) {
  try {
    make_folders(file.parent_path());
    publish_replace(file, text);
  } catch (const Error&) {  // see above
  }
}

}  // namespace depthgrid
