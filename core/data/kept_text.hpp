#pragma once

#include <string_view>

#include "core/data/token_stream.hpp"

namespace depthgrid {

struct Dataset;
class Tokenizer;

/// Whether these ids say every byte of the text that they were made from. Only then is a loss per
/// byte one: what tokens drop costs a model nothing, and the fewer words a vocabulary has, the
/// less.
///
/// `byte` and `gpt2` keep every byte. `char256` loses which character an id of 255 was, `char`
/// which an id of 0 was, so they keep a text without these. `word` keeps neither white space nor
/// the words that its vocabulary lacks.
/// @param tokenizer  word of `data.tokenizer`; of another one nothing is known: false.
bool keeps_text(std::string_view tokenizer, const TokenStream& ids);

/// Bytes of the text that these ids stand for. @param tokenizer  of which keeps_text() is true.
std::int64_t bytes_of(const Tokenizer& tokenizer, const TokenStream& ids);

/// Completes a dataset whose streams are final: the digest of each split, and no bytes where ids do
/// not keep their text (so there are no bits per byte).
/// @param tokenizer  word of `data.tokenizer`; read for datasets with a tokeniser only: tokenised
///                   files have been asked as they were read.
void describe_splits(Dataset& data, std::string_view tokenizer);

}  // namespace depthgrid
