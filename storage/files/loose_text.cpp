#include "storage/files/loose_text.hpp"

namespace depthgrid {

std::string loose_text(const std::filesystem::path& file, std::uint64_t offset, const Fs& disk) {
  return disk.read(file, offset).value;
}

}  // namespace depthgrid
