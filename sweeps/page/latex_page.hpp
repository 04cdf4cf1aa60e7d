#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

/// The parts as LaTeX: a document of its own, which another one may also \input, as it then leaves
/// out its class and what belongs to it. Tables are those of booktabs, at most 40 rows long;
/// pictures are "<id>.pdf" beside the file, and where that is missing a box says how to make it of
/// "<id>.svg".
std::string latex_page(std::span<const PagePart> parts, std::string_view title);

}  // namespace depthgrid
