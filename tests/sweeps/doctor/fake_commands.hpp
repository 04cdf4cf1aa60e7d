#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/doctor/finding.hpp"

namespace depthgrid {
namespace doctor_test {

/// Every warning and problem has a cure.
inline void expect_level(const Finding& finding, FindingLevel level) {
  EXPECT_EQ(finding.level, level) << finding.what << ": " << finding.seen;
  EXPECT_FALSE(finding.seen.empty()) << finding.what;
  EXPECT_TRUE(level == FindingLevel::Ok || !finding.cure.empty()) << finding.what;
}

/// Answers by the first word, or the first two; anything else is not found.
inline CommandRunner answers(const std::map<std::string, CommandAnswer>& known) {
  return [known](const std::vector<std::string>& command, double) {
    const std::string two = command[0] + (command.size() > 1 ? " " + command[1] : "");
    for (const std::string& words : {two, command[0]}) {
      if (const auto at = known.find(words); at != known.end()) return at->second;
    }
    return CommandAnswer{.code = 127, .late = false, .out = "", .err = ""};
  };
}

inline CommandAnswer says(const std::string& out, int code = 0, const std::string& err = "") {
  return {.code = code, .late = false, .out = out, .err = err};
}

inline const Finding* find(const std::vector<Finding>& findings, const std::string& what) {
  for (const Finding& finding : findings) {
    if (finding.what == what) return &finding;
  }
  return nullptr;
}

}  // namespace doctor_test
}  // namespace depthgrid
