#include "cli/page_output.hpp"

#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, PageFormat>, 3> kPageFormats = {
    {{"markdown", PageFormat::Markdown}, {"latex", PageFormat::Latex}, {"svg", PageFormat::Svg}}};

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
