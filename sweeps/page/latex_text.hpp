#pragma once

#include <string>
#include <string_view>

namespace depthgrid {

/// mailed_text() in one line of LaTeX, in text mode: nothing in it is a command. Signs and Greek
/// letters that pages use are those of mathematics, letters of Latin-1 stay as they are, and every
/// other character is shown by its code (U+4E2D), so that any engine sets it.
std::string latex_text(std::string_view text);

}  // namespace depthgrid
