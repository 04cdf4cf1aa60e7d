#include "sweeps/page/report_page.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sweeps/page/html.hpp"
#include "sweeps/page/page_resources.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/chart_stylesheet.hpp"

namespace depthgrid {
namespace {

/// "'sha256-…'", as a content security policy names an inline style or script.
std::string source_of(std::string_view content) {
  const Sha256 digest = sha256(content);
  return "'sha256-" + base64(digest) + "'";
}

}  // namespace

std::string report_page(const PageData& data) {
  const std::string style = chart_stylesheet() + std::string(page_stylesheet());
  const std::string script(curves_script());
  std::string navigation, body;
  for (const PageSection& section : page_sections()) {
    const std::string content = section.content(data);
    if (content.empty()) continue;
    navigation += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, section.title);
    body += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}"
        "</h2>\n{2}</section>\n",
        section.id, section.title, content);
  }
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n",
      source_of(style), source_of(script));
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
                     html_text(data.listing.sweep), style);
  out += fmt::format(
      "<header><h1>{}</h1></header>\n<nav aria-label=\"sections\"><ul>{}</ul></nav>\n"
      "<main>\n{}</main>\n",
      html_text(data.listing.sweep), navigation, body);
  out += "<script type=\"application/json\" id=\"curves-data\">" + script_json(curves_json(data)) +
         "</script>\n<script>" + script + "</script>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace depthgrid
