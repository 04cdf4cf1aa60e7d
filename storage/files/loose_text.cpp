#include "storage/files/loose_text.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

namespace depthgrid {

std::string loose_text(const std::filesystem::path& file, std::uint64_t offset) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};
  std::ifstream in(file, std::ios::binary);
  if (offset > 0) in.seekg(static_cast<std::streamoff>(offset));
  return in ? std::string{std::istreambuf_iterator<char>(in), {}} : std::string();
}

}  // namespace depthgrid
