#include "sweeps/doctor/finding.hpp"

#include <sstream>

namespace depthgrid {

std::string last_words(const CommandAnswer& answer) {
  std::string last;
  for (const std::string* text : {&answer.out, &answer.err}) {
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(" \t\r") != line.npos) last = line;
    }
  }
  return last;
}

}  // namespace depthgrid
