#include "core/base/last_lines.hpp"

#include <cstdint>

namespace depthgrid {

std::string last_lines(const std::filesystem::path& file, std::size_t lines, const Fs& disk) {
  constexpr std::uint64_t kMost = 65536;
  const std::string text = disk.read_end(file, kMost).value;
  std::size_t at = text.size();
  for (std::size_t n = 0; n <= lines && at != std::string::npos && at > 0; ++n) {
    at = text.rfind('\n', at - 1);
  }
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

}  // namespace depthgrid
