#pragma once

#include <string_view>

namespace depthgrid {

// Files of this folder that are compiled in.

/// page.css: the layout of a page; colours are those of chart_stylesheet().
std::string_view page_stylesheet();

/// script/*.js, joined into one script: draws the learning curves of the cells.
std::string_view curves_script();

}  // namespace depthgrid
