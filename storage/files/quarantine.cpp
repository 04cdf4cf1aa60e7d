#include "storage/files/quarantine.hpp"

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kQuarantineMark = ".damaged-";
constexpr int kMostQuarantined = 10000;

}  // namespace

std::filesystem::path quarantine(const std::filesystem::path& file, const Fs& disk) {
  int error = EEXIST;
  for (int n = 1; n <= kMostQuarantined && error == EEXIST; ++n) {
    const std::filesystem::path target = fmt::format("{}{}{}", file.string(), kQuarantineMark, n);
    error = disk.rename_to_new(file, target);
    if (error == 0) return target;
  }
  throw_errno(file, "cannot move the damaged file away", error, 0, disk);
}

bool is_quarantined(const std::filesystem::path& file) {
  return file.filename().string().find(kQuarantineMark) != std::string::npos;
}

bool something_at(const std::filesystem::path& file, const Fs& disk) {
  const int error = disk.facts(file, Links::Stay).error;
  if (error != 0 && !means_absent(error)) throw_errno(file, "cannot be examined", error, 0, disk);
  return error == 0;
}

}  // namespace depthgrid
