#include "storage/files/folder_modes.hpp"

#include <cerrno>
#include <string_view>

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

struct Modeless {
  std::int64_t kind;
  std::string_view name;
};
/// All folders of these have the modes of the mount. They have no hard links either.
constexpr Modeless kModeless[] = {{MSDOS_SUPER_MAGIC, "vfat"}, {EXFAT_SUPER_MAGIC, "exfat"}};

}  // namespace

FolderModes modes_of(const fs::path& folder) {
  struct stat about{};
  if (stat(folder.c_str(), &about) != 0) throw_errno(folder, "cannot stat", errno);
  if (!S_ISDIR(about.st_mode)) throw StorageError(folder, "is not a folder");
  FolderModes out{.mode = about.st_mode & 07777U};
  struct statfs mount{};
  if (statfs(folder.c_str(), &mount) == 0) out.file_system = mount.f_type;
  return out;
}

std::optional<UnsafeModes> unsafe_modes(const fs::path& folder, const FolderModes& modes) {
  const bool open_to_others = (modes.mode & (S_IWGRP | S_IWOTH)) != 0;
  const bool sticky = (modes.mode & S_ISVTX) != 0;
  if (!open_to_others || sticky) return std::nullopt;
  UnsafeModes out{
      .seen = fmt::format("others may write to the folder (mode {:o}) and could exchange its files",
                          modes.mode),
      .cure = fmt::format("run 'chmod go-w {}'", folder.string())};
  for (const Modeless& known : kModeless) {
    if (known.kind != modes.file_system) continue;
    out.of_mount = true;
    out.seen += fmt::format("; its file system is {}, where folders have no modes of their own",
                            known.name);
    out.cure =
        "chmod changes nothing there, and hard links, which a store needs, are missing as well: "
        "choose a folder on another file system with --store";
  }
  return out;
}

}  // namespace depthgrid
