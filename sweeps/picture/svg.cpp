#include "sweeps/picture/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 6> kSvgElements = {"circle", "g",    "line",
                                                          "path",   "rect", "text"};
constexpr std::array<std::string_view, 15> kSvgAttributes = {
    "class", "cx", "cy", "d", "height", "r", "stroke-dasharray", "text-anchor", "width",
    "x",     "x1", "x2", "y", "y1",     "y2"};

bool is_id_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// An id with a blank would be two in aria-labelledby; quotes cannot occur either.
void require_chart_id(const std::string& id) {
  const bool good = !id.empty() && is_id_letter(id.front()) && std::ranges::all_of(id, [](char c) {
    return is_id_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (good) return;
  throw Error(fmt::format("chart '{}': an id is a letter, then letters, digits, '-' and '_'",
                          chart_line(id)));
}

}  // namespace

std::string svg_text(std::string_view text) {
  std::string out;
  for (const char c : chart_line(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg_number(double number) {
  if (!std::isfinite(number)) throw Error("a coordinate of a picture is not finite");
  std::string out = fmt::format("{:.2f}", number);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

SvgAttribute::SvgAttribute(std::string_view attribute, double number)
    : name(attribute), value(svg_number(number)) {}

SvgAttribute::SvgAttribute(std::string_view attribute, std::string_view text)
    : name(attribute), value(text) {}

SvgPath& SvgPath::move(double x, double y) {
  data_ += fmt::format("{}M{} {}", data_.empty() ? "" : " ", svg_number(x), svg_number(y));
  return *this;
}

SvgPath& SvgPath::line(double x, double y) {
  data_ += fmt::format(" L{} {}", svg_number(x), svg_number(y));
  return *this;
}

SvgPath& SvgPath::close() {
  data_ += " Z";
  return *this;
}

SvgPath& SvgPath::dot(double x, double y) {
  data_ += fmt::format("M{} {}h0", svg_number(x), svg_number(y));
  return *this;
}

SvgWriter::SvgWriter(const ChartText& text, double width, double height) {
  require_chart_id(text.id);
  out_ = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-labelledby=\"{}-title {}-desc\">\n<title id=\"{}-title\">{}</title>\n"
      "<desc id=\"{}-desc\">{}</desc>\n",
      svg_number(width), svg_number(height), text.id, text.id, text.id, svg_text(text.title),
      text.id, svg_text(text.description));
}

void SvgWriter::tag(std::string_view element, std::initializer_list<SvgAttribute> attributes) {
  if (std::ranges::find(kSvgElements, element) == kSvgElements.end())
    throw Error(fmt::format("a chart has no element '{}'", element));
  out_ += fmt::format("<{}", element);
  for (const SvgAttribute& attribute : attributes) {
    if (std::ranges::find(kSvgAttributes, attribute.name) == kSvgAttributes.end())
      throw Error(fmt::format("an element of a chart has no attribute '{}'", attribute.name));
    if (attribute.value.empty()) continue;  // a pattern of dashes that is none, no class
    out_ += fmt::format(" {}=\"{}\"", attribute.name, svg_text(attribute.value));
  }
}

void SvgWriter::open(std::string_view element, std::initializer_list<SvgAttribute> attributes) {
  tag(element, attributes);
  out_ += ">\n";
  open_.emplace_back(element);
}

void SvgWriter::close() {
  if (open_.empty()) throw Error("no element of the chart is open");
  out_ += fmt::format("</{}>\n", open_.back());
  open_.pop_back();
}

void SvgWriter::leaf(std::string_view element, std::initializer_list<SvgAttribute> attributes) {
  tag(element, attributes);
  out_ += "/>\n";
}

void SvgWriter::tooltip(std::string_view text) {
  out_ += fmt::format("<title>{}</title>\n", svg_text(text));
}

void SvgWriter::text(std::string_view content, std::initializer_list<SvgAttribute> attributes,
                     std::string_view full) {
  tag("text", attributes);
  out_ += '>';
  if (!full.empty()) out_ += fmt::format("<title>{}</title>", svg_text(full));
  out_ += svg_text(content) + "</text>\n";
}

void SvgWriter::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  leaf("line", {{"class", classes}, {"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}});
}

void SvgWriter::rect(double x, double y, double width, double height, std::string_view classes) {
  leaf("rect", {{"class", classes}, {"x", x}, {"y", y}, {"width", width}, {"height", height}});
}

void SvgWriter::path(const SvgPath& path, std::string_view classes) {
  leaf("path", {{"class", classes}, {"d", path.data()}});
}

std::string SvgWriter::finish() {
  while (!open_.empty()) close();
  return out_ + "</svg>\n";
}

}  // namespace depthgrid
