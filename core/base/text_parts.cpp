#include "core/base/text_parts.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace depthgrid {

std::vector<std::string> split_at(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, at);) out.push_back(part);
  return out;
}

std::vector<std::string> text_lines(const std::string& text) {
  return split_at(text, '\n');
}

std::vector<std::string> text_words(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

std::string without_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \n\r\t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return std::string(text.substr(0, text.find_last_not_of(kBlank) + 1));
}

}  // namespace depthgrid
