#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++out;
  return out;
}

/// A tag as written: its name and the names and values of its attributes.
struct CheckedTag {
  std::string name;
  std::vector<std::string> names, values;
  std::string value_of(std::string_view attribute) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == attribute) return values[i];
    }
    return "";
  }
};

/// A picture read by other rules than those that wrote it: tags balance, attributes are quoted, ids
/// unique, and nothing in it can run, load or set a style.
struct CheckedSvg {
  std::string fault;  // empty: none
  std::vector<CheckedTag> tags;
  std::string content;  // text between the tags, not unescaped

  std::vector<CheckedTag> of_class(std::string_view word) const {
    std::vector<CheckedTag> out;
    for (const CheckedTag& tag : tags) {
      const std::string padded = " " + tag.value_of("class") + " ";
      if (padded.find(" " + std::string(word) + " ") != std::string::npos) out.push_back(tag);
    }
    return out;
  }
  std::vector<double> numbers(std::string_view word, std::string_view attribute) const {
    std::vector<double> out;
    for (const CheckedTag& tag : of_class(word))
      out.push_back(std::strtod(tag.value_of(attribute).c_str(), nullptr));
    return out;
  }
};

/// Reads the attributes of a tag whose inner text this is; the text of a fault, or "".
inline std::string read_attributes(std::string_view rest, CheckedTag& tag) {
  while (!rest.empty()) {
    if (rest.front() != ' ') return "no blank before an attribute of " + tag.name;
    const std::size_t equal = rest.find("=\"");
    if (equal == std::string_view::npos) return "an attribute of " + tag.name + " has no value";
    const std::size_t end = rest.find('"', equal + 2);
    if (end == std::string_view::npos) return "an open quote in " + tag.name;
    tag.names.emplace_back(rest.substr(1, equal - 1));
    tag.values.emplace_back(rest.substr(equal + 2, end - equal - 2));
    const std::string& name = tag.names.back();
    if (name == "style" || name.starts_with("on") || name.find("href") != std::string::npos)
      return "attribute " + name;
    if (tag.values.back().find("nan") != std::string::npos) return "a NaN in " + name;
    if (tag.values.back().find('<') != std::string::npos) return "a bare < in " + name;
    rest.remove_prefix(end + 1);
  }
  return "";
}

inline CheckedSvg checked_svg(std::string_view svg) {
  const std::set<std::string> known = {"svg",  "title", "desc", "g",     "line",
                                       "rect", "path",  "text", "circle"};
  CheckedSvg out;
  std::vector<std::string> open;
  std::set<std::string> ids;
  while (!svg.empty() && out.fault.empty()) {
    const std::size_t begin = std::min(svg.find('<'), svg.size());
    out.content += svg.substr(0, begin);
    svg.remove_prefix(begin);
    if (svg.empty()) break;
    const std::size_t end = svg.find('>');
    if (end == std::string_view::npos) out.fault = "a tag without an end";
    if (end == std::string_view::npos) break;
    std::string_view inner = svg.substr(1, end - 1);
    svg.remove_prefix(end + 1);
    if (inner.starts_with('/')) {
      if (open.empty() || open.back() != inner.substr(1)) {
        out.fault = "</" + std::string(inner.substr(1)) + "> closes what is not open";
      } else {
        open.pop_back();
      }
      continue;
    }
    const bool leaf = inner.ends_with('/');
    if (leaf) inner.remove_suffix(1);
    CheckedTag tag;
    tag.name = inner.substr(0, inner.find(' '));
    inner.remove_prefix(tag.name.size());
    out.fault = read_attributes(inner, tag);
    if (!known.contains(tag.name)) out.fault = "element " + tag.name;
    if (open.empty() != (tag.name == "svg")) out.fault = "root is " + tag.name;
    const std::string id = tag.value_of("id");
    if (!id.empty() && !ids.insert(id).second) out.fault = "two ids " + id;
    if (!leaf) open.push_back(tag.name);
    out.tags.push_back(tag);
  }
  if (out.fault.empty() && !open.empty()) out.fault = "open: " + open.back();
  return out;
}

inline ChartText some_chart_text(std::string_view x_label = "x", std::string_view y_label = "y") {
  return {.id = "chart",
          .title = "A title",
          .description = "What it shows",
          .x_label = std::string(x_label),
          .y_label = std::string(y_label)};
}

}  // namespace depthgrid
