#include "storage/files/set_aside.hpp"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kAsideMark = ".damaged-";
constexpr int kMostAside = 10000;

/// rename() that never replaces. Filesystems without that flag get a look first.
int rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (something_at(to)) return EEXIST;
  return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

std::filesystem::path set_aside(const std::filesystem::path& file) {
  int code = EEXIST;
  for (int n = 1; n <= kMostAside && code == EEXIST; ++n) {
    const std::filesystem::path target = fmt::format("{}{}{}", file.string(), kAsideMark, n);
    code = rename_to_new(file, target);
    if (code == 0) return target;
  }
  throw_errno(file, "cannot set the damaged file aside", code);
}

bool is_set_aside(const std::filesystem::path& file) {
  return file.filename().string().find(kAsideMark) != std::string::npos;
}

bool something_at(const std::filesystem::path& file) {
  struct stat about{};
  return lstat(file.c_str(), &about) == 0;
}

}  // namespace depthgrid
