#include "core/data/labels/segments.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/labels/words.hpp"

namespace depthgrid {
namespace {

/// How much of a pattern the characters read so far have matched.
struct Reading {
  bool space = false;  // spaced: the last one is white space
  bool stop = false;   // white space would now complete the pattern
};

bool is_stop(std::int32_t code) noexcept {
  return code == '.' || code == '!' || code == '?';
}

bool is_closing(std::int32_t code) noexcept {
  return code == '"' || code == '\'' || code == ')' || code == ']';
}

/// Reads one more character; whether it completes `\s[.!?]\s|\n`.
bool completes_spaced(Reading& before, std::int32_t code) noexcept {
  const bool space = is_white_space(code);
  const bool complete = code == '\n' || (before.stop && space);
  before.stop = before.space && is_stop(code);
  before.space = space;
  return complete;
}

/// Reads one more character; whether it completes `[.!?]["')\]]*\s|\n`.
bool completes_raw(Reading& before, std::int32_t code) noexcept {
  const bool complete = code == '\n' || (before.stop && is_white_space(code));
  before.stop = is_stop(code) || (before.stop && is_closing(code));
  return complete;
}

struct TerminatorRow {
  std::string_view word;
  bool (*completes)(Reading& before, std::int32_t code) noexcept;
};
constexpr std::array<TerminatorRow, 2> kTerminators{
    {{"spaced", completes_spaced}, {"raw", completes_raw}}};  // by Terminator

}  // namespace

Terminator terminator(std::string_view word) {
  for (std::size_t i = 0; i < kTerminators.size(); ++i) {
    if (kTerminators[i].word == word) return static_cast<Terminator>(i);
  }
  throw UserError(
      ExitCode::Usage,
      fmt::format("train.control.labels.terminator: unknown word '{}'; known: spaced, raw", word));
}

std::vector<TextSegment> segments(std::string_view text, Terminator kind) {
  const TerminatorRow& row = kTerminators[static_cast<std::size_t>(kind)];
  std::vector<TextSegment> all;
  Reading before;
  std::int64_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!row.completes(before, next_character(text, at))) continue;
    const auto end = static_cast<std::int64_t>(at);
    all.push_back({begin, end});
    begin = end;
  }
  const auto size = static_cast<std::int64_t>(text.size());
  if (begin < size) all.push_back({begin, size});
  return all;
}

}  // namespace depthgrid
