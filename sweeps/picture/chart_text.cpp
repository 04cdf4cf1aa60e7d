#include "sweeps/picture/chart_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

constexpr double kSameWidth = 1e-6;   // what a space that was computed from a width may have lost
constexpr double kOtherGlyph = 0.62;  // em per column of a terminal: digits, accents, Greek

/// Width of an ASCII letter in em: three classes are within a tenth of Arial, Roboto and DejaVu
/// for words and numbers.
double ascii_em(char letter) {
  constexpr std::string_view kNarrowLetters = " !\"'(),-./:;I[\\]`fijlrt{|}";
  constexpr std::string_view kWideLetters = "%@MWmw";
  if (kNarrowLetters.find(letter) != std::string_view::npos) return 0.38;
  if (kWideLetters.find(letter) != std::string_view::npos) return 0.94;
  return letter >= 'A' && letter <= 'Z' ? 0.7 : 0.6;
}

/// U+061C orders a line as the other marks of direction do, and XML has no U+FFFE and U+FFFF.
struct UnprintedCharacter {
  std::string_view bytes, shown;
};
constexpr std::array<UnprintedCharacter, 3> kUnprinted = {
    {{"\xD8\x9C", "\\u061c"}, {"\xEF\xBF\xBE", "\\ufffe"}, {"\xEF\xBF\xBF", "\\uffff"}}};

}  // namespace

std::string chart_line(std::string_view text) {
  std::string out = printable(text);
  for (char& c : out) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  for (const UnprintedCharacter& one : kUnprinted) {
    for (std::size_t at = out.find(one.bytes); at != std::string::npos; at = out.find(one.bytes))
      out.replace(at, one.bytes.size(), one.shown);
  }
  return out;
}

double chart_text_width(std::string_view text, double font) {
  double em = 0;
  std::string others;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      others += c;
    } else {
      em += ascii_em(c);
    }
  }
  return font * (em + kOtherGlyph * static_cast<double>(display_width(others)));
}

std::string cut_to_width(std::string_view text, double space, double font) {
  std::string line = chart_line(text);
  space += kSameWidth;
  if (chart_text_width(line, font) <= space) return line;
  const double narrowest = 0.38 * font;  // no more columns than this can fit
  const auto most = static_cast<std::size_t>(std::max(0.0, space) / narrowest) + 1;
  for (std::size_t columns = std::min(most, display_width(line)); columns > 1; --columns) {
    std::string out = clipped(line, columns);
    if (chart_text_width(out, font) <= space) return out;
  }
  return "…";
}

std::string chart_number(double number) {
  if (std::isnan(number)) return "–";
  if (std::isinf(number)) return number > 0 ? "∞" : "-∞";
  const std::string out = fmt::format("{:.4g}", number);
  const std::size_t e = out.find('e');  // 1e-07, 1e+10: one form of an exponent, as on the axes
  if (e == std::string::npos) return out == "-0" ? "0" : out;
  return fmt::format("{}e{}", out.substr(0, e), std::stoi(out.substr(e + 1)));
}

}  // namespace depthgrid
