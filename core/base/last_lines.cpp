#include "core/base/last_lines.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace depthgrid {

std::string last_lines(const std::filesystem::path& file, std::size_t lines) {
  constexpr std::streamoff kMost = 65536;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};  // reading a folder throws
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kMost));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::size_t at = text.size();
  for (std::size_t n = 0; n <= lines && at != std::string::npos && at > 0; ++n) {
    at = text.rfind('\n', at - 1);
  }
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

}  // namespace depthgrid
