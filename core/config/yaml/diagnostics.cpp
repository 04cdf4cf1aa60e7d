#include "core/config/yaml/diagnostics.hpp"

#include <algorithm>
#include <string_view>

#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kLongestQuote = 160;

/// Characters (not bytes) in UTF-8 text.
int characters(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string_view line_of(std::string_view text, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  auto found = text.substr(begin, text.find('\n', begin) - begin);
  if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
  return found;
}

/// A line as it is quoted: one column per control character, so that the caret stays in place.
std::string quoted(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return printable(out);
}

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const auto& diagnostic : diagnostics) {
    if (!out.empty()) out += '\n';
    out += diagnostic.text();
  }
  return out + '\n' + std::to_string(diagnostics.size()) +
         (diagnostics.size() == 1 ? " error" : " errors");
}

}  // namespace

std::string Diagnostic::heading() const {
  const std::string place =
      line == 0 ? "" : ':' + std::to_string(line) + ':' + std::to_string(column);
  return file + place + ": " + message;
}

std::string Diagnostic::text() const {
  if (line == 0) return heading();
  const std::string number = std::to_string(line);
  // Of long lines, only the part around the place is shown.
  std::size_t begin = 0;
  if (source_line.size() > kLongestQuote) {
    std::size_t at = 0;
    for (int seen = 0; at < source_line.size(); ++at) {
      seen += characters(std::string_view(source_line).substr(at, 1));
      if (seen >= column) break;
    }
    begin = at > kLongestQuote / 2 ? at - kLongestQuote / 2 : 0;
    while (begin > 0 && (static_cast<unsigned char>(source_line[begin]) & 0xC0U) == 0x80U) --begin;
  }
  std::string quote = source_line.substr(begin, kLongestQuote);
  const int shift = characters(std::string_view(source_line).substr(0, begin));
  return heading() + "\n  " + number + " | " + quote + "\n  " + std::string(number.size(), ' ') +
         " | " + std::string(static_cast<std::size_t>(std::max(0, column - 1 - shift)), ' ') + '^';
}

SweepErrors::SweepErrors(std::vector<Diagnostic> diagnostics)
    : UserError(ExitCode::Usage, joined(diagnostics)), diagnostics_(std::move(diagnostics)) {}

int Diagnostics::add_text(std::string name, std::string text) {
  texts_.push_back({std::move(name), std::move(text)});
  return static_cast<int>(texts_.size()) - 1;
}

void Diagnostics::error(Place place, const std::string& message) {
  if (!full() && seen_.emplace(place, message).second) errors_.push_back({place, message});
}

void Diagnostics::note(Place place, const std::string& message) {
  if (seen_.emplace(place, message).second) notes_.push_back({place, message});
}

Diagnostic Diagnostics::diagnostic(const Entry& entry) const {
  Diagnostic out;
  out.message = entry.message;
  if (entry.place.file < 0) {
    out.file = texts_.empty() ? "" : texts_.front().file;
    return out;
  }
  const SweepSource& text = texts_[static_cast<std::size_t>(entry.place.file)];
  out.file = text.file;
  out.line = entry.place.line;
  if (out.line == 0) return out;
  const std::string_view line = line_of(text.text, out.line);
  const auto bytes = static_cast<std::size_t>(std::max(0, entry.place.column - 1));
  out.column = characters(line.substr(0, std::min(bytes, line.size()))) + 1;
  out.source_line = quoted(line);
  return out;
}

void Diagnostics::throw_if_failed() const {
  if (errors_.empty()) return;
  std::vector<Entry> sorted = errors_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Entry& a, const Entry& b) { return a.place < b.place; });
  std::vector<Diagnostic> diagnostics;
  for (const auto& entry : sorted) diagnostics.push_back(diagnostic(entry));
  if (full()) {
    diagnostics.push_back({texts_.front().file, 0, 0, "and more: not all errors are listed", ""});
  }
  throw SweepErrors(std::move(diagnostics));
}

std::vector<std::string> Diagnostics::notes() const {
  std::vector<std::string> out;
  for (const auto& entry : notes_) out.push_back(diagnostic(entry).heading());
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment; three rows suffice.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const std::size_t d = edit_distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace depthgrid
