#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

/// mailed_text() in one line of Markdown: nothing in it is markup, an element of HTML or the end of
/// a table's entry.
std::string markdown_text(std::string_view text);

/// The parts as Markdown with tables (GitHub's); pictures are links to "<id>.svg", numbers to
/// "<id>.csv" beside the file.
std::string markdown_page(std::span<const PagePart> parts, std::string_view title);

}  // namespace depthgrid
