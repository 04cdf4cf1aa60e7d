#include "sweeps/page/latex_text.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "sweeps/page/html.hpp"

namespace depthgrid {
namespace {

struct LatexSign {
  std::string_view text, command;
};

constexpr std::array kLatexSigns = {
    // What LaTeX reads as a command, and what its fonts or ligatures would change.
    LatexSign{"\\", "\\textbackslash{}"}, LatexSign{"{", "\\{"}, LatexSign{"}", "\\}"},
    LatexSign{"$", "\\$"}, LatexSign{"&", "\\&"}, LatexSign{"%", "\\%"}, LatexSign{"#", "\\#"},
    LatexSign{"_", "\\_"}, LatexSign{"^", "\\textasciicircum{}"},
    LatexSign{"~", "\\textasciitilde{}"}, LatexSign{"<", "\\textless{}"},
    LatexSign{">", "\\textgreater{}"}, LatexSign{"|", "\\textbar{}"},
    LatexSign{"\"", "\\symbol{34}"}, LatexSign{"'", "\\textquotesingle{}"},
    LatexSign{"`", "\\textasciigrave{}"},
    // After the end of a row or \\item, these would begin an option.
    LatexSign{"[", "{[}"}, LatexSign{"]", "{]}"}, LatexSign{"*", "{*}"},
    // Signs.
    LatexSign{"±", "\\ensuremath{\\pm}"}, LatexSign{"−", "\\ensuremath{-}"},
    LatexSign{"×", "\\ensuremath{\\times}"}, LatexSign{"÷", "\\ensuremath{\\div}"},
    LatexSign{"·", "\\ensuremath{\\cdot}"}, LatexSign{"≤", "\\ensuremath{\\leq}"},
    LatexSign{"≥", "\\ensuremath{\\geq}"}, LatexSign{"≠", "\\ensuremath{\\neq}"},
    LatexSign{"≈", "\\ensuremath{\\approx}"}, LatexSign{"∞", "\\ensuremath{\\infty}"},
    LatexSign{"√", "\\ensuremath{\\surd}"}, LatexSign{"∂", "\\ensuremath{\\partial}"},
    LatexSign{"→", "\\ensuremath{\\rightarrow}"}, LatexSign{"←", "\\ensuremath{\\leftarrow}"},
    LatexSign{"⁻", "\\ensuremath{^{-}}"}, LatexSign{"⁰", "\\ensuremath{^{0}}"},
    LatexSign{"¹", "\\ensuremath{^{1}}"}, LatexSign{"²", "\\ensuremath{^{2}}"},
    LatexSign{"³", "\\ensuremath{^{3}}"}, LatexSign{"⁴", "\\ensuremath{^{4}}"},
    LatexSign{"₀", "\\ensuremath{_{0}}"}, LatexSign{"₁", "\\ensuremath{_{1}}"},
    LatexSign{"₂", "\\ensuremath{_{2}}"}, LatexSign{"°", "\\ensuremath{^{\\circ}}"},
    LatexSign{"–", "\\textendash{}"}, LatexSign{"—", "\\textemdash{}"}, LatexSign{"…", "\\ldots{}"},
    LatexSign{"§", "\\S{}"}, LatexSign{"’", "\\textquoteright{}"},
    LatexSign{"‘", "\\textquoteleft{}"}, LatexSign{"“", "\\textquotedblleft{}"},
    LatexSign{"”", "\\textquotedblright{}"}, LatexSign{"\u00A0", "~"}, LatexSign{"\n", " "},
    LatexSign{"\t", " "},
    // Greek letters that are no Latin ones.
    LatexSign{"α", "\\ensuremath{\\alpha}"}, LatexSign{"β", "\\ensuremath{\\beta}"},
    LatexSign{"γ", "\\ensuremath{\\gamma}"}, LatexSign{"δ", "\\ensuremath{\\delta}"},
    LatexSign{"ε", "\\ensuremath{\\varepsilon}"}, LatexSign{"ζ", "\\ensuremath{\\zeta}"},
    LatexSign{"η", "\\ensuremath{\\eta}"}, LatexSign{"θ", "\\ensuremath{\\theta}"},
    LatexSign{"κ", "\\ensuremath{\\kappa}"}, LatexSign{"λ", "\\ensuremath{\\lambda}"},
    LatexSign{"μ", "\\ensuremath{\\mu}"}, LatexSign{"µ", "\\ensuremath{\\mu}"},
    LatexSign{"ν", "\\ensuremath{\\nu}"}, LatexSign{"ξ", "\\ensuremath{\\xi}"},
    LatexSign{"π", "\\ensuremath{\\pi}"}, LatexSign{"ρ", "\\ensuremath{\\rho}"},
    LatexSign{"σ", "\\ensuremath{\\sigma}"}, LatexSign{"τ", "\\ensuremath{\\tau}"},
    LatexSign{"φ", "\\ensuremath{\\varphi}"}, LatexSign{"χ", "\\ensuremath{\\chi}"},
    LatexSign{"ψ", "\\ensuremath{\\psi}"}, LatexSign{"ω", "\\ensuremath{\\omega}"},
    LatexSign{"Γ", "\\ensuremath{\\Gamma}"}, LatexSign{"Δ", "\\ensuremath{\\Delta}"},
    LatexSign{"Θ", "\\ensuremath{\\Theta}"}, LatexSign{"Λ", "\\ensuremath{\\Lambda}"},
    LatexSign{"Π", "\\ensuremath{\\Pi}"}, LatexSign{"Σ", "\\ensuremath{\\Sigma}"},
    LatexSign{"Φ", "\\ensuremath{\\Phi}"}, LatexSign{"Ψ", "\\ensuremath{\\Psi}"},
    LatexSign{"Ω", "\\ensuremath{\\Omega}"}};

/// Bytes of the character that begins with this one; the text is UTF-8.
std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::uint32_t code_of(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character.front());
  std::uint32_t out =
      static_cast<unsigned char>(character.front()) & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) out = out << 6U | (static_cast<unsigned char>(c) & 63U);
  return out;
}

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

/// Whether a hyphen is the sign of a number: "-0.5" and "[-1", not "s-1" and "1e-5".
bool is_minus(std::string_view text, std::size_t at) {
  if (text[at] != '-') return false;
  const bool number = is_digit_at(text, at + 1) ||
                      (text.substr(at + 1).starts_with('.') && is_digit_at(text, at + 2));
  const bool word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 ||
                               static_cast<unsigned char>(text[at - 1]) >= 0x80);
  return number && !word && (at == 0 || text[at - 1] != '-');
}

}  // namespace

std::string latex_text(std::string_view text) {
  const std::string line = mailed_text(text);
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = std::string_view(line).substr(at);
    if (is_minus(line, at)) {
      out += "\\ensuremath{-}";
      ++at;
      continue;
    }
    if (rest.starts_with("--")) {  // no dash
      out += "-{}";
      ++at;
      continue;
    }
    const LatexSign* found = nullptr;
    for (const LatexSign& sign : kLatexSigns) {
      if (rest.starts_with(sign.text)) found = &sign;
    }
    if (found != nullptr) {
      out += found->command;
      at += found->text.size();
      continue;
    }
    const std::string_view character = rest.substr(0, character_size(rest.front()));
    const std::uint32_t code = code_of(character);
    const bool latin = code < 0x80 || (code >= 0xC0 && code <= 0xFF);
    out += latin ? std::string(character) : fmt::format("U+{:04X}", code);
    at += character.size();
  }
  return out;
}

}  // namespace depthgrid
