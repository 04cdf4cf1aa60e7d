#pragma once

#include <cmath>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace depthgrid::testing {

/// What a value is held to, and the words for it.
struct Threshold {
  std::string text;
  std::function<bool(double)> met;  // false for NaN
};

inline std::string shown(double x) {
  std::ostringstream out;
  out.precision(7);
  out << x;
  return out.str();
}

inline Threshold near(double known, double tolerance) {
  return {shown(known) + " ± " + shown(tolerance),
          [=](double x) { return std::abs(x - known) <= tolerance; }};
}

inline Threshold at_most(double limit) {
  return {"≤ " + shown(limit), [=](double x) { return x <= limit; }};
}

inline Threshold at_least(double limit) {
  return {"≥ " + shown(limit), [=](double x) { return x >= limit; }};
}

inline Threshold exactly(double known) {
  return {"= " + shown(known), [=](double x) { return x == known; }};
}

/// A known answer with the number it has in docs/diagnostics.md, "Known answers": fails unless the
/// value meets its threshold, and prints both and the verdict as one line of that table.
inline void verdict(int check, std::string_view what, double value, const Threshold& threshold) {
  const bool met = threshold.met(value);
  std::cout << "| " << check << " | " << what << " | " << shown(value) << " | " << threshold.text
            << " | " << (met ? "holds" : "FAILS") << " |\n";
  EXPECT_TRUE(met) << "check " << check << ", " << what << ": " << shown(value) << ", not "
                   << threshold.text;
}

}  // namespace depthgrid::testing
