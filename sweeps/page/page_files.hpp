#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

/// A file of a page: a name without a folder, and its content.
struct PageFile {
  std::string name, content;
};

/// Forms of a page that are several files in a folder.
enum class PageFormat : std::uint8_t {
  Markdown,  // report.md, with links to the pictures and the numbers
  Latex,     // report.tex
  Svg        // the pictures and the numbers alone
};

/// Every picture as SVG, the numbers of every picture and table as CSV, and the text of the format
/// around them. As report_page(), it is made to be handed on: no user, host or absolute path.
std::vector<PageFile> page_files(std::span<const PagePart> parts, std::string_view title,
                                 PageFormat format);

}  // namespace depthgrid
