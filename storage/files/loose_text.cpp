#include "storage/files/loose_text.hpp"

#include <span>

#include "core/base/nan.hpp"

namespace depthgrid {

std::string loose_text(const std::filesystem::path& file, std::uint64_t offset, const Fs& disk) {
  return disk.read(file, offset).value;
}

bool put_loose_text(const std::filesystem::path& file, std::string_view text, OpenHow how,
                    const Fs& disk) {
  const auto [open, error] = disk.open(file, how);
  if (error != 0) return false;
  const auto written = open->write(std::as_bytes(std::span(text)));
  return written && written.value == text.size();
}

double written_time(const std::filesystem::path& file, const Fs& disk) {
  const auto about = disk.facts(file, Links::Follow);
  return about ? unix_seconds(about.value.modified) : kNaN;
}

}  // namespace depthgrid
