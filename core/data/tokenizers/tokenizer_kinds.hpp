#pragma once

#include <memory>
#include <string_view>

#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

// The makers behind make_tokenizer(), one per word of `data.tokenizer`.

/// One id per byte, V = 256; accepts any file.
std::unique_ptr<Tokenizer> make_byte_tokenizer(const TokenizerOptions&, std::string_view);

/// id = min(code point, 255), as in the first study; V = 256. All characters from U+00FF share one.
std::unique_ptr<Tokenizer> make_char256_tokenizer(const TokenizerOptions&, std::string_view);

/// The characters of a text, sorted by code point: ids 1, 2, ...; 0 stands for every other and
/// decodes to U+FFFD. V = number of distinct characters + 1. @param train_text  UTF-8.
std::unique_ptr<Tokenizer> make_char_tokenizer(const TokenizerOptions&,
                                               std::string_view train_text);

/// Words separated by what is_white_space() holds for, as in Python's str.split(): ids 1 .. V - 1
/// for the most frequent of a text, 0 for every other ("<unk>"). Equally frequent words are ordered
/// by their bytes. Decodes to words joined by single spaces.
std::unique_ptr<Tokenizer> make_word_tokenizer(const TokenizerOptions& options,
                                               std::string_view train_text);

/// GPT-2's byte-pair encoding, from its two published files.
///
/// Text is split by the published Unicode pattern (gpt2_piece_end()); each piece's bytes are merged
/// in the order of vocab.bpe (BytePairs). Short pieces are cached. `<|endoftext|>` in a text is
/// plain text.
/// Source: Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2;
/// Sennrich, Haddow & Birch (2016), ACL, algorithm 1.
/// @throws UserError (NoInput) if a file is missing, (BadData) if it is malformed.
std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const TokenizerOptions& options, std::string_view);

}  // namespace depthgrid
