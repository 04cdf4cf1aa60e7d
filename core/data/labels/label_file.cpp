#include "core/data/labels/label_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/data/labels/json_records.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 3> kDocumentMembers{"text", "u", "spans"};
constexpr std::array<std::string_view, 3> kSpanMembers{"begin", "end", "u"};
constexpr ScoreRange kLabelRange{-1, 1};

/// What reading one line needs beside it.
struct LabelLine {
  const std::vector<std::string>& names;
  RecordMistakes& mistakes;
};

bool cuts_a_character(std::string_view text, std::int64_t at) {
  const auto byte = static_cast<std::size_t>(at);
  return byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xC0U) == 0x80U;
}

/// A member that is a place in `text`; nothing, and a mistake, if it is none.
std::optional<std::int64_t> offset_in(std::string_view text, const nlohmann::json& span,
                                      const std::string& member, const std::string& where,
                                      RecordMistakes& mistakes) {
  const auto found = span.find(member);
  if (found == span.end()) {
    mistakes.add(where, fmt::format("no member '{}': expected a number of bytes", member));
    return std::nullopt;
  }
  const std::string place = where + "." + member;
  if (!found->is_number_integer()) {  // of either sign
    mistakes.add(place, fmt::format("{} is no whole number of bytes", shown_value(*found)));
    return std::nullopt;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const bool huge = found->is_number_unsigned() &&
                    found->get<std::uint64_t>() > static_cast<std::uint64_t>(kMost);
  const std::int64_t at = huge ? kMost : found->get<std::int64_t>();
  if (at < 0 || at > static_cast<std::int64_t>(text.size())) {
    mistakes.add(place, fmt::format("{} is outside of the text, which has {} bytes",
                                    shown_value(*found), text.size()));
    return std::nullopt;
  }
  if (cuts_a_character(text, at)) {
    mistakes.add(place, fmt::format("byte {} is inside a character: offsets count bytes of the "
                                    "text in UTF-8, not characters",
                                    at));
    return std::nullopt;
  }
  return at;
}

std::optional<LabelledSpan> span_of_record(std::string_view text, const nlohmann::json& given,
                                           const std::string& where, const LabelLine& line) {
  if (!given.is_object()) {
    line.mistakes.add(where, fmt::format("{} is no object with {}", shown_value(given),
                                         fmt::join(kSpanMembers, ", ")));
    return std::nullopt;
  }
  refuse_other_members(given, kSpanMembers, where, line.mistakes);
  LabelledSpan out;
  const auto u = given.find("u");
  if (u == given.end()) {
    line.mistakes.add(where, "no member 'u': expected the labels of the span by name");
  } else {
    out.u = named_numbers(*u, line.names, kLabelRange, where + ".u", line.mistakes);
  }
  const auto begin = offset_in(text, given, "begin", where, line.mistakes);
  const auto end = offset_in(text, given, "end", where, line.mistakes);
  if (!begin || !end) return std::nullopt;
  if (*begin >= *end) {
    line.mistakes.add(where, fmt::format("begin {} is not before end {}", *begin, *end));
    return std::nullopt;
  }
  out.begin = *begin;
  out.end = *end;
  return out;
}

/// Adds a mistake for each span that begins before another one ends. @param spans  sorted.
void refuse_overlap(const std::vector<LabelledSpan>& spans, const std::string& where,
                    RecordMistakes& mistakes) {
  std::size_t last = 0;  // of those before, the one that ends last
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].begin < spans[last].end) {
      mistakes.add(where,
                   fmt::format("spans [{}, {}) and [{}, {}) overlap: a byte has one label",
                               spans[last].begin, spans[last].end, spans[i].begin, spans[i].end));
    }
    if (spans[i].end > spans[last].end) last = i;
  }
}

void add_spans(LabelledDocument& document, const nlohmann::json& spans, const std::string& where,
               const LabelLine& line) {
  if (!spans.is_array()) {
    line.mistakes.add(where + ": spans", fmt::format("{} is no list of spans", shown_value(spans)));
    return;
  }
  std::vector<LabelledSpan> read;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::string place = fmt::format("{}: spans[{}]", where, i);
    auto span = span_of_record(document.text, spans[i], place, line);
    if (span) read.push_back(std::move(*span));
  }
  std::ranges::sort(read, {}, &LabelledSpan::begin);
  refuse_overlap(read, where, line.mistakes);
  document.spans = std::move(read);
}

LabelledDocument document_of_record(const nlohmann::json& record, const std::string& where,
                                    const LabelLine& line) {
  LabelledDocument out;
  refuse_other_members(record, kDocumentMembers, where, line.mistakes);
  const auto text = record.find("text");
  if (text == record.end()) {
    line.mistakes.add(where, "no member 'text': expected the document's text");
    return out;  // it is no document: what else is wrong with it says nothing
  }
  if (!text->is_string() || text->get_ref<const std::string&>().empty()) {
    line.mistakes.add(where + ": text",
                      fmt::format("{} is no text of a document", shown_value(*text)));
    return out;
  }
  out.text = text->get<std::string>();
  const auto u = record.find("u"), spans = record.find("spans");
  if (u != record.end() && spans != record.end()) {
    line.mistakes.add(where, "both 'u', of the whole text, and 'spans', of its parts: keep one");
  }
  if (spans != record.end()) add_spans(out, *spans, where, line);
  if (u != record.end()) {
    const auto size = static_cast<std::int64_t>(out.text.size());
    out.spans.push_back(
        {0, size, named_numbers(*u, line.names, kLabelRange, where + ": u", line.mistakes)});
  }
  return out;
}

/// Without its end, "\n" or "\r\n".
std::string_view first_line(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Whether a text begins with this document, whole: with its last line.
bool stands_at_beginning(std::string_view text, std::string_view document) {
  if (!text.starts_with(document)) return false;
  const std::string_view behind = text.substr(document.size());
  return document.ends_with('\n') || behind.empty() || behind.starts_with('\n') ||
         behind.starts_with("\r\n");
}

bool same_labels(const LabelledDocument& a, const LabelledDocument& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::ranges::equal(a.spans, b.spans, [&](const LabelledSpan& x, const LabelledSpan& y) {
    return x.begin == y.begin && x.end == y.end && std::ranges::equal(x.u, y.u, same);
  });
}

/// Documents by their first lines, the longest first.
class DocumentIndex {
 public:
  explicit DocumentIndex(std::span<const LabelledDocument> documents) {
    std::unordered_map<std::string_view, std::size_t> seen;
    for (std::size_t d = 0; d < documents.size(); ++d) {
      const auto [at, fresh] = seen.emplace(documents[d].text, d);
      if (!fresh && !same_labels(documents[at->second], documents[d])) {
        throw UserError(ExitCode::BadData,
                        fmt::format("train.control.labels.file: documents {} and {} are one text, "
                                    "{}, with different labels",
                                    at->second + 1, d + 1, quoted_opening(documents[d].text)));
      }
      by_line_[first_line(documents[d].text)].push_back(d);
    }
    for (auto& [line, all] : by_line_) {
      std::ranges::stable_sort(all, std::greater<>(),
                               [&](std::size_t d) { return documents[d].text.size(); });
    }
  }

  std::span<const std::size_t> beginning_with(std::string_view line) const {
    const auto found = by_line_.find(line);
    return found == by_line_.end() ? std::span<const std::size_t>() : std::span(found->second);
  }

 private:
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_line_;
};

}  // namespace

LabelFile read_label_file(const std::filesystem::path& file,
                          const std::vector<std::string>& names) {
  LabelFile out;
  out.sha256 = read_json_records(
      file, [&](const std::string& where, const nlohmann::json& record, RecordMistakes& mistakes) {
        out.documents.push_back(document_of_record(record, where, {names, mistakes}));
      });
  return out;
}

LocatedLabels located(std::string_view text, std::span<const LabelledDocument> documents) {
  LocatedLabels out;
  out.found.assign(documents.size(), false);
  const DocumentIndex index(documents);
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t next = 0;  // bytes to pass over
    for (const std::size_t d : index.beginning_with(first_line(rest))) {
      const LabelledDocument& document = documents[d];
      if (!stands_at_beginning(rest, document.text)) continue;
      out.found[d] = true;
      if (next > 0) continue;  // the same text once more
      for (const LabelledSpan& span : document.spans) {
        const auto offset = static_cast<std::int64_t>(at);
        out.spans.push_back({span.begin + offset, span.end + offset, span.u});
      }
      next = document.text.size();
    }
    at = text.find('\n', at + (next == 0 ? 0 : next - 1));
    if (at == std::string_view::npos) break;
    ++at;
  }
  return out;
}

}  // namespace depthgrid
