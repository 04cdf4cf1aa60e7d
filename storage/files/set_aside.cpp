#include "storage/files/set_aside.hpp"

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kAsideMark = ".damaged-";
constexpr int kMostAside = 10000;

}  // namespace

std::filesystem::path set_aside(const std::filesystem::path& file, const Fs& disk) {
  int error = EEXIST;
  for (int n = 1; n <= kMostAside && error == EEXIST; ++n) {
    const std::filesystem::path target = fmt::format("{}{}{}", file.string(), kAsideMark, n);
    error = disk.rename_to_new(file, target);
    if (error == 0) return target;
  }
  throw_errno(file, "cannot set the damaged file aside", error, 0, disk);
}

bool is_set_aside(const std::filesystem::path& file) {
  return file.filename().string().find(kAsideMark) != std::string::npos;
}

bool something_at(const std::filesystem::path& file, const Fs& disk) {
  const int error = disk.facts(file, Links::Stay).error;
  if (error != 0 && !means_absent(error)) throw_errno(file, "cannot be examined", error, 0, disk);
  return error == 0;
}

}  // namespace depthgrid
