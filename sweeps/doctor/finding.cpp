#include "sweeps/doctor/finding.hpp"

#include "core/base/text_parts.hpp"

namespace depthgrid {

std::string last_words(const CommandAnswer& answer) {
  std::string last;
  for (const std::string* text : {&answer.out, &answer.err}) {
    for (const std::string& line : text_lines(*text)) {
      if (!without_blanks(line).empty()) last = line;
    }
  }
  return last;
}

}  // namespace depthgrid
