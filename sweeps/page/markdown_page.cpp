#include "sweeps/page/markdown_page.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <variant>

#include <fmt/format.h>

#include "sweeps/page/html.hpp"

namespace depthgrid {
namespace {

bool is_word_letter(std::string_view text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                              static_cast<unsigned char>(text[at]) >= 0x80);
}

/// Where the mark of a heading, a list or a rule ends the line's beginning, behind its digits:
/// "# a", "- a", "---", "1. a"; not in "-0.5" and "1.5".
bool marks_block(std::string_view line, std::size_t at) {
  const std::string_view marks = at > 0 ? ".)" : "#+-=";
  if (at >= line.size() || marks.find(line[at]) == marks.npos) return false;
  return at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == line[at];
}

/// Between as many backticks as it takes.
std::string markdown_code(std::string_view text) {
  std::size_t longest = 0, run = 0;
  std::string line = mailed_text(text);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return longest == 0 ? fence + line + fence : fence + " " + line + " " + fence;
}

std::string markdown_row(const std::vector<std::string>& entries) {
  std::string out = "|";
  for (const std::string& entry : entries) out += " " + markdown_text(entry) + " |";
  return out + "\n";
}

class BlockMarkdown {
 public:
  std::string operator()(const PageChart& chart) const {
    std::string out = fmt::format("![{}]({}.svg)\n\n*{}*", markdown_text(chart.alternative),
                                  chart.id, markdown_text(chart.title));
    const std::string numbers = chart.numbers.rows.empty() ? chart.numbers_with : chart.id;
    if (!numbers.empty()) out += fmt::format(" ([numbers]({}.csv))", numbers);
    if (!chart.command.empty()) out += ", by " + markdown_code(chart.command);
    return out + "\n\n";
  }
  std::string operator()(const PageLive& live) const { return (*this)(live.chart); }
  std::string operator()(const PageTable& table) const {
    std::string out = "*" + markdown_text(table.caption) + "*";
    if (table.csv) out += fmt::format(" ([numbers]({}.csv))", table.id);
    std::vector<std::string> titles;
    std::string rule = "|";
    for (const TableColumn& column : table.table.columns) {
      titles.push_back(column.title);
      rule += column.align == Align::Right ? " ---: |" : " --- |";
    }
    out += "\n\n" + markdown_row(titles) + rule + "\n";
    for (const auto& row : table.table.rows) out += markdown_row(row);
    return out + "\n";
  }
  std::string operator()(const PageText& text) const {
    const std::string lead = text.lead.empty() ? "" : "**" + markdown_text(text.lead) + "** ";
    const std::string words = lead + markdown_text(text.text);
    switch (text.kind) {
      case PageText::Kind::Paragraph:
      case PageText::Kind::Note:
        break;
      case PageText::Kind::Item:
        return "- " + words + "\n";
      case PageText::Kind::Answer:
        return "**" + words + "**\n\n";
      case PageText::Kind::Question:
      case PageText::Kind::Problem:
        return "> " + words + "\n\n";
      case PageText::Kind::Heading:
        return "### " + words + "\n\n";
      case PageText::Kind::Command:
        return "By " + markdown_code(text.text) + "\n\n";
    }
    return words + "\n\n";
  }
};

}  // namespace

std::string markdown_text(std::string_view text) {
  const std::string line = mailed_text(text);
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) {
    ++digits;
  }
  const bool block = marks_block(line, digits);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    constexpr std::string_view kMarkup = "\\`*[]|~$&";
    const char c = line[i];
    if (c == '\n' || c == '\t') {
      out += ' ';
    } else if (c == '<' || c == '>') {
      out += c == '<' ? "&lt;" : "&gt;";
    } else {
      const bool within_word = i > 0 && is_word_letter(line, i - 1) && is_word_letter(line, i + 1);
      const bool markup =
          kMarkup.find(c) != kMarkup.npos || (c == '_' && !within_word) || (block && i == digits);
      if (markup) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown_page(std::span<const PagePart> parts, std::string_view title) {
  std::string out = "# " + markdown_text(title) + "\n\n";
  for (const PagePart& part : parts) {
    out += fmt::format("## {}\n\n", markdown_text(part.title));
    bool list = false;
    for (const PageBlock& block : part.blocks) {
      if (list && !is_item(block)) out += "\n";
      list = is_item(block);
      out += std::visit(BlockMarkdown(), block);
    }
    if (list) out += "\n";
  }
  return out;
}

}  // namespace depthgrid
