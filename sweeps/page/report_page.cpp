#include "sweeps/page/report_page.hpp"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sweeps/page/html.hpp"
#include "sweeps/page/page_block.hpp"
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

/// One block as HTML. Names of frames are landmarks for those who hear the page: a name that an
/// earlier one has gets a number.
class BlockHtml {
 public:
  explicit BlockHtml(std::map<std::string, int>& names) : names_(names) {}
  std::string operator()(const PageChart& chart) const {
    return html_chart(chart.svg, unique(chart.title), chart.caption) + numbers(chart);
  }
  std::string operator()(const PageTable& table) const {
    const std::string caption = unique(table.caption);
    const std::string shown =
        html_table(table.table, caption) + (table.csv ? html_csv(table.numbers()) : "");
    return table.folded ? html_folded(caption, shown) : shown;
  }
  std::string operator()(const PageLive& live) const {
    return fmt::format("<div id=\"curves-static\"{}>", live.sampled ? " data-stays" : "") +
           html_chart(live.chart.svg, unique(live.chart.title), live.chart.caption) +
           "</div>\n<div id=\"curves-live\" hidden></div>\n" + numbers(live.chart);
  }
  std::string operator()(const PageText& text) const {
    const std::string lead =
        text.lead.empty() ? "" : "<strong>" + html_text(text.lead) + "</strong> ";
    const std::string words = lead + html_text(text.text);
    switch (text.kind) {
      case PageText::Kind::Paragraph:
        break;
      case PageText::Kind::Note:
        return "<p class=\"note\">" + words + "</p>\n";
      case PageText::Kind::Item:
        return "<li>" + words + "</li>\n";
      case PageText::Kind::Question:
        return "<p class=\"question\">" + words + "</p>\n";
      case PageText::Kind::Answer:
        return "<p class=\"answer\">" + words + "</p>\n";
      case PageText::Kind::Problem:
        return "<p class=\"problem\">" + words + "</p>\n";
      case PageText::Kind::Heading:
        return "<h3>" + words + "</h3>\n";
      case PageText::Kind::Command:
        return "<p class=\"note\">By <code>" + words + "</code></p>\n";
    }
    return "<p>" + words + "</p>\n";
  }

 private:
  std::string unique(const std::string& name) const {
    const int count = ++names_[name];
    return count == 1 ? name : fmt::format("{} ({})", name, count);
  }
  static std::string numbers(const PageChart& chart) {
    return chart.numbers.rows.empty() ? std::string() : html_csv(chart.numbers, chart.command);
  }
  std::map<std::string, int>& names_;
};

std::string html_of(const PageBlocks& blocks, std::map<std::string, int>& names) {
  std::string out;
  bool list = false;
  for (const PageBlock& block : blocks) {
    if (is_item(block) != list) out += list ? "</ul>\n" : "<ul>";
    list = is_item(block);
    out += std::visit(BlockHtml(names), block);
  }
  return out + (list ? "</ul>\n" : "");
}

/// What the script draws; empty if nothing.
std::string live_data(const std::vector<PagePart>& parts) {
  for (const PagePart& part : parts) {
    for (const PageBlock& block : part.blocks) {
      if (const auto* const live = std::get_if<PageLive>(&block)) return live->data;
    }
  }
  return {};
}

}  // namespace

std::string report_page(const PageData& data) {
  const std::string style = chart_stylesheet() + std::string(page_stylesheet());
  const std::string script(curves_script());
  std::string navigation, body;
  std::map<std::string, int> names;
  const std::vector<PagePart> parts = page_parts(data);
  for (const PagePart& part : parts) {
    navigation += fmt::format("<li><a href=\"#{}\">{}</a></li>", part.id, part.title);
    body += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}"
        "</h2>\n{2}</section>\n",
        part.id, part.title, html_of(part.blocks, names));
  }
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
      "script-src {}; img-src data:; base-uri 'none'; form-action 'none'\">\n",
      source_of(style), source_of(script));
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += fmt::format("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
                     html_text(data.title), style);
  out += fmt::format(
      "<header><h1>{}</h1></header>\n<nav aria-label=\"sections\"><ul>{}</ul></nav>\n"
      "<main>\n{}</main>\n",
      html_text(data.title), navigation, body);
  if (const std::string curves = live_data(parts); !curves.empty()) {
    out += "<script type=\"application/json\" id=\"curves-data\">" + script_json(curves) +
           "</script>\n";
  }
  return out + "<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace depthgrid
