#include "sweeps/page/html.hpp"

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

/// Class of the shape that stands before a verdict; empty for other words.
std::string_view verdict_class(std::string_view word) {
  if (word == "differs") return "verdict-differs";
  if (word == "undecided") return "verdict-undecided";
  if (word == "refused") return "verdict-refused";
  return word.starts_with("no effect") ? "verdict-no-effect" : "";
}

/// Characters that a name of a file or a folder goes on with, as people write them in settings.
bool in_path(char c) {
  return std::isspace(static_cast<unsigned char>(c)) == 0 && c != '"' && c != '\'' && c != ',' &&
         c != ';' && c != '(' && c != ')' && c != '<' && c != '>' && c != '|';
}

}  // namespace

std::string without_folders(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    constexpr std::string_view kBefore = " \t\n\"'=:,;([{";
    const bool begins = at == 0 || kBefore.find(text[at - 1]) != kBefore.npos;
    const bool root = text[at] == '/' || (text[at] == '~' && text.substr(at + 1).starts_with('/'));
    std::size_t end = at;
    while (end < text.size() && in_path(text[end])) ++end;
    const std::size_t last = text.substr(at, end - at).rfind('/');
    if (!begins || !root || end - at < 2) {
      out += text[at++];
      continue;
    }
    out += "…" + std::string(text.substr(at + last, end - at - last));
    at = end;
  }
  return out;
}

std::string mailed_text(std::string_view text) {
  return printable(without_folders(text));
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : mailed_text(text)) {
    const std::string_view entity = entity_of(c);
    if (entity.empty()) {
      out += c;
    } else {
      out += entity;
    }
  }
  return out;
}

std::string html_table(const Table& table, std::string_view caption) {
  const auto row = [&table](const char* tag, const auto& entry_of) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const bool number = table.columns[i].align == Align::Right;
      const std::string text = html_text(entry_of(i));
      const bool verdict = tag == std::string_view("td") && table.columns[i].title == "verdict";
      const std::string_view kind = verdict ? verdict_class(text) : std::string_view();
      out += fmt::format(
          "<{0}{1}>{2}</{0}>", tag, number ? " class=\"number\"" : "",
          kind.empty() ? text : fmt::format("<span class=\"{}\">{}</span>", kind, text));
    }
    return out + "</tr>\n";
  };
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>"
      "<caption>{0}</caption>\n<thead>",
      html_text(caption));
  out +=
      row("th", [&table](std::size_t i) -> const std::string& { return table.columns[i].title; });
  out += "</thead>\n<tbody>\n";
  for (const auto& line : table.rows) {
    out += row("td", [&line](std::size_t i) -> const std::string& { return line[i]; });
  }
  return out + "</tbody></table></div>\n";
}

std::string html_chart(std::string_view svg, std::string_view title, std::string_view caption) {
  const std::string above =
      caption.empty() ? "" : "<p class=\"chart-caption\">" + html_text(caption) + "</p>\n";
  return above + fmt::format(
                     "<div class=\"chart-frame\" tabindex=\"0\" role=\"group\" "
                     "aria-label=\"{}\">{}</div>\n",
                     html_text(title), svg);
}

std::string html_folded(std::string_view summary, std::string_view html) {
  return fmt::format("<details><summary>{}</summary>{}</details>\n", html_text(summary), html);
}

std::string html_csv(const Table& table, std::string_view command) {
  const std::string by =
      command.empty() ? "" : "<p class=\"note\">By <code>" + html_text(command) + "</code></p>\n";
  return html_folded("numbers as CSV",
                     by + "<pre tabindex=\"0\">" + html_text(csv_of(table)) + "</pre>");
}

std::string script_json(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t j = 0; j < 3; ++j) three = three << 8U | (j < n ? bytes[i + j] : 0U);
    for (std::size_t j = 0; j < 4; ++j) {
      out += j <= n ? kDigits[three >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return out;
}

}  // namespace depthgrid
