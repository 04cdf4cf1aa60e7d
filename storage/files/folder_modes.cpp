#include "storage/files/folder_modes.hpp"

#include <string_view>

#include <fmt/format.h>
#include <linux/magic.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSticky = 01000, kGroupWrites = 0020, kOthersWrite = 0002;

struct Modeless {
  std::int64_t kind;
  std::string_view name;
};
/// All folders of these have the modes of the mount. They have no hard links either.
constexpr Modeless kModeless[] = {{MSDOS_SUPER_MAGIC, "vfat"}, {EXFAT_SUPER_MAGIC, "exfat"}};

}  // namespace

FolderModes modes_of(const fs::path& folder, const Fs& disk) {
  const auto [about, error] = disk.facts(folder, Links::Follow);
  if (error != 0) throw_errno(folder, "cannot stat", error, 0, disk);
  if (about.kind != FileKind::Folder) throw StorageError(folder, "is not a folder");
  return {.mode = about.mode, .file_system = disk.space(folder).value.file_system};
}

std::optional<UnsafeModes> unsafe_modes(const fs::path& folder, const FolderModes& modes,
                                        FileAccess access) {
  const bool shared = access == FileAccess::Group;
  const bool open_to_others =
      (modes.mode & (shared ? kOthersWrite : kOthersWrite | kGroupWrites)) != 0;
  if (!open_to_others || (modes.mode & kSticky) != 0) return std::nullopt;
  UnsafeModes out{
      .seen = fmt::format("others may write to the folder (mode {:o}) and could exchange its files",
                          modes.mode),
      .cure = fmt::format("run 'chmod {} {}'", shared ? "o-w" : "go-w", folder.string())};
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
