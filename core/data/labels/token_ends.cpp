#include "core/data/labels/token_ends.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/labels/words.hpp"

namespace depthgrid {
namespace {

using Ends = std::vector<std::int64_t>;
using Ids = std::span<const std::uint32_t>;

/// One byte each.
Ends ends_of_bytes(const Tokenizer&, std::string_view, Ids ids) {
  Ends ends(ids.size());
  std::iota(ends.begin(), ends.end(), std::int64_t{1});
  return ends;
}

/// One character each, also where an id does not say which.
Ends ends_of_characters(const Tokenizer&, std::string_view text, Ids) {
  Ends ends;
  for (std::size_t at = 0; at < text.size();) {
    next_character(text, at);
    ends.push_back(static_cast<std::int64_t>(at));
  }
  return ends;
}

/// As many bytes each as it decodes to.
Ends ends_of_pieces(const Tokenizer& tokenizer, std::string_view, Ids ids) {
  Ends ends;
  ends.reserve(ids.size());
  std::int64_t end = 0;
  for (const std::uint32_t& id : ids) {
    end += static_cast<std::int64_t>(tokenizer.decode({&id, 1}).size());
    ends.push_back(end);
  }
  return ends;
}

/// One word each, also where an id does not say which.
Ends ends_of_words(const Tokenizer&, std::string_view text, Ids) {
  Ends ends;
  each_word_of(
      text, [&](std::size_t, std::size_t end) { ends.push_back(static_cast<std::int64_t>(end)); });
  return ends;
}

struct EndsRow {
  std::string_view tokenizer;
  Ends (*ends)(const Tokenizer& tokenizer, std::string_view text, Ids ids);
  bool drops_white_space;  // behind the last token
};
constexpr std::array<EndsRow, 5> kEnds{{{"byte", ends_of_bytes, false},
                                        {"char256", ends_of_characters, false},
                                        {"char", ends_of_characters, false},
                                        {"gpt2", ends_of_pieces, false},
                                        {"word", ends_of_words, true}}};

}  // namespace

std::vector<std::int64_t> token_ends(std::string_view kind, const Tokenizer& tokenizer,
                                     std::string_view text, std::span<const std::uint32_t> ids) {
  const auto* const row = std::ranges::find(kEnds, kind, &EndsRow::tokenizer);
  if (row == kEnds.end()) throw Error(fmt::format("where tokens of '{}' end is not known", kind));
  Ends ends = row->ends(tokenizer, text, ids);
  const std::int64_t last = ends.empty() ? 0 : ends.back();
  const bool whole = row->drops_white_space || last == static_cast<std::int64_t>(text.size());
  if (ends.size() != ids.size() || !whole) {
    throw Error(fmt::format("{}: these {} ids are not those of this text of {} bytes", kind,
                            ids.size(), text.size()));
  }
  return ends;
}

std::vector<std::int32_t> segment_of_token(std::span<const TextSegment> parts,
                                           std::span<const std::int64_t> ends) {
  if (parts.empty() && !ends.empty()) throw Error("a text of tokens has a segment at least");
  std::vector<std::int32_t> index(ends.size());
  std::size_t ended = 0;  // segments, as seen by who has read the tokens before j
  for (std::size_t j = 1; j < ends.size(); ++j) {
    while (ended + 1 < parts.size() && parts[ended].end <= ends[j - 1]) ++ended;
    index[j] = static_cast<std::int32_t>(ended);
  }
  return index;
}

}  // namespace depthgrid
