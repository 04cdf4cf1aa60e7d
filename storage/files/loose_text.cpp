#include "storage/files/loose_text.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/base/nan.hpp"

namespace depthgrid {

std::string loose_text(const std::filesystem::path& file, std::uint64_t offset) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return {};
  std::ifstream in(file, std::ios::binary);
  if (offset > 0) in.seekg(static_cast<std::streamoff>(offset));
  return in ? std::string{std::istreambuf_iterator<char>(in), {}} : std::string();
}

double written_time(const std::filesystem::path& file) {
  std::error_code unknown;
  const auto written = std::filesystem::last_write_time(file, unknown);
  if (unknown) return kNaN;
  const auto since_1970 = std::chrono::file_clock::to_sys(written).time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

}  // namespace depthgrid
