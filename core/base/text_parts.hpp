#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

// What programs print, in parts.

/// Parts of a text with `at` between them; what ends with it has no empty part behind it.
std::vector<std::string> split_at(const std::string& text, char at);

/// Lines without their ends, empty ones as well.
std::vector<std::string> text_lines(const std::string& text);

/// Words with any number of blanks between them.
std::vector<std::string> text_words(const std::string& text);

/// A text without the blanks and line ends around it.
std::string without_blanks(std::string_view text);

}  // namespace depthgrid
