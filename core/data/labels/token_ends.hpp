#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/data/labels/segments.hpp"
#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// Where the bytes of each token of a text end: offset in `text` of the byte behind them.
///
/// White space between words, which `word` drops, belongs to the word that follows.
/// @param kind  word of `data.tokenizer`, which made the ids.
/// @param text  the text that was encoded.
/// @return      (tokens), rising.
/// @throws Error for an unknown kind, and if these are not the ids of `text`: the last one must end
///         where the text does (`word`: there must be as many as words).
std::vector<std::int64_t> token_ends(std::string_view kind, const Tokenizer& tokenizer,
                                     std::string_view text, std::span<const std::uint32_t> ids);

/// The segment of each token, as decided from the tokens before it: of token j the number of
/// segments that end at or before ends[j - 1], the first one for j = 0, and never past the last.
///
/// A token that holds the byte that ends a segment, and more (a leading blank of `gpt2` or `word`
/// after a full stop), so belongs to the old segment: only a token that has been read can switch.
/// Causality: two texts that agree up to ends[i] have the same segment at token i + 1, whatever
/// follows. (Of `word`, equal ids alone are not enough: line breaks are in none.)
/// @param parts  segments() of the text.
/// @param ends   (tokens) token_ends() of it.
/// @return       (tokens) indices of `parts`.
/// @throws Error if there are tokens, but no segments.
std::vector<std::int32_t> segment_of_token(std::span<const TextSegment> parts,
                                           std::span<const std::int64_t> ends);

}  // namespace depthgrid
