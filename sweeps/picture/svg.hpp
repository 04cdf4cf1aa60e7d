#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

// A writer of static SVG for a page that is mailed: nothing to load, nothing to run, and looks by
// classes alone (the page's content security policy allows no style attribute). Elements and
// attributes outside two short lists throw, so that no chart can bring in a script, a link or a
// style. Same calls, same bytes.
//
// Coordinates are units of the viewBox, y downwards. The element has no namespace attribute: it
// stands in an HTML page, where it needs none.

/// Text for content or a quoted attribute: chart_line(), then & < > " ' as character references.
std::string svg_text(std::string_view text);

/// At most two decimals, no trailing zeros, no "-0". @throws Error unless the number is finite.
std::string svg_number(double number);

/// Attribute of an element: `name` is a literal, the value is escaped when it is written.
struct SvgAttribute {
  SvgAttribute(std::string_view attribute, double number);
  SvgAttribute(std::string_view attribute, std::string_view text);
  std::string_view name;
  std::string value;
};

/// Data of a path: M, L, Z and h0 (a dot) with absolute coordinates.
class SvgPath {
 public:
  SvgPath& move(double x, double y);
  SvgPath& line(double x, double y);
  SvgPath& close();
  /// A line of no length: where line ends are round, a dot as wide as the line.
  SvgPath& dot(double x, double y);
  const std::string& data() const noexcept { return data_; }

 private:
  std::string data_;
};

/// One picture, from its opening tag to what finish() returns.
class SvgWriter {
 public:
  /// Root with viewBox, role="img", title and description; ids are `<id>-title`, `<id>-desc`.
  /// @throws Error if the id is none.
  SvgWriter(const ChartText& text, double width, double height);

  /// @throws Error for an element or an attribute that is in no list; all functions below do.
  void open(std::string_view element, std::initializer_list<SvgAttribute> attributes = {});
  void close();  ///< of the innermost open element; the root is closed by finish()
  void leaf(std::string_view element, std::initializer_list<SvgAttribute> attributes);
  /// What a browser shows on hovering over the open element: to be written as its first child.
  void tooltip(std::string_view text);
  /// One line; where `full` is not empty, hovering shows it.
  void text(std::string_view content, std::initializer_list<SvgAttribute> attributes,
            std::string_view full = {});

  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void rect(double x, double y, double width, double height, std::string_view classes);
  void path(const SvgPath& path, std::string_view classes);

  /// Closes what is open and returns the picture.
  std::string finish();

 private:
  void tag(std::string_view element, std::initializer_list<SvgAttribute> attributes);
  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace depthgrid
