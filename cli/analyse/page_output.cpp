#include "cli/analyse/page_output.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, PageFormat>, 3> kPageFormats = {
    {{"markdown", PageFormat::Markdown}, {"latex", PageFormat::Latex}, {"svg", PageFormat::Svg}}};

/// As publish_replace() would find it, but before anything is read.
void require_place_of_page(const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw_errno(folder, "cannot open the folder", errno);
  if (faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    throw_errno(target, "cannot create a file beside it", errno);
  }
}

/// As make_folders() would find it; makes nothing.
void require_place_of_folder(const fs::path& folder) {
  std::error_code none;
  const fs::path name = folder.has_filename() ? folder : folder.parent_path();
  if (fs::is_directory(name, none)) return require_place_of_page(name / "report");
  const auto above = [](const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
  };
  fs::path first = name;  // that has to be made
  while (!fs::exists(above(first), none) && first.has_parent_path()) first = above(first);
  if (!fs::is_directory(above(first), none)) throw_errno(name, "cannot make the folder", ENOTDIR);
  if (faccessat(AT_FDCWD, above(first).c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    throw_errno(first, "cannot make the folder", errno);
  }
}

}  // namespace

std::optional<PageFormat> page_format_of(const std::string& word) {
  if (word.empty() || word == "html") return std::nullopt;
  for (const auto& [name, format] : kPageFormats) {
    if (word == name) return format;
  }
  throw UserError(ExitCode::Usage,
                  "--format " + word + ": html, markdown, latex or svg was expected");
}

void check_page_target(const fs::path& target, const std::optional<PageFormat>& format) {
  std::error_code none;
  const bool folder = fs::is_directory(target, none);
  if (!format && folder) {
    throw UserError(ExitCode::Usage, "report: -o " + target.string() +
                                         " is a folder: name the file of the page, such as " +
                                         (target / "report.html").string() +
                                         ", or give --format markdown, latex "
                                         "or svg, which fill a folder");
  }
  if (format && !folder && fs::exists(target, none)) {
    throw UserError(ExitCode::Usage,
                    "report: -o " + target.string() +
                        " is a file: with --format markdown, latex or svg a folder is written to");
  }
  if (format && Store::is_at(target)) {
    throw UserError(ExitCode::Usage, "report: -o " + target.string() +
                                         " is a store: name another folder for the files");
  }
  if (format) {
    require_place_of_folder(target);
  } else {
    require_place_of_page(target);
  }
}

std::uint64_t publish_page_files(const fs::path& folder, std::span<const PageFile> files) {
  make_folders(folder);
  std::uint64_t bytes = 0;
  for (const PageFile& file : files) {
    publish_replace(folder / file.name, file.content);
    bytes += file.content.size();
  }
  return bytes;
}

}  // namespace depthgrid
