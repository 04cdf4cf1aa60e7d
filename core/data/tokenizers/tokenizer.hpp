#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// Text to token ids and back. Immutable once made, apart from caches; one thread at a time.
class Tokenizer {
 public:
  Tokenizer() = default;
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Says everything that the ids depend on ("char256", "gpt2 <digest of its files>"): part of the
  /// name of a token file.
  virtual std::string identity() const = 0;

  /// Number of ids; every id that encode() gives lies below it.
  virtual std::int64_t vocab_size() const = 0;

  /// False only where any bytes will do.
  virtual bool needs_utf8() const { return true; }

  /// Appends the ids of `text`. @param text  UTF-8 if needs_utf8(), already checked.
  virtual void encode(std::string_view text, std::vector<std::uint32_t>& out) const = 0;

  /// The text of `ids`; equal to what was encoded for `byte` and `gpt2`.
  /// @throws Error for an id of vocab_size() or more.
  virtual std::string decode(std::span<const std::uint32_t> ids) const = 0;

  /// Shorthand for one text.
  std::vector<std::uint32_t> encode(std::string_view text) const;
};

/// What make_tokenizer needs to know beside the training text.
struct TokenizerOptions {
  std::string kind = "char256";      // char256, byte, char, gpt2, word
  std::int64_t word_vocab_size = 0;  // V of `word`, the unknown word included
  std::filesystem::path folder;      // of encoder.json and vocab.bpe; empty = search order
};

/// Makes the tokeniser of `data.tokenizer`.
/// @param train_text  vocabulary of `char` and `word`; the others do not read it.
/// @throws UserError for an unknown kind; (NoInput) where the files of `gpt2` are missing;
///         (BadData) where they are damaged.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options,
                                          std::string_view train_text);

}  // namespace depthgrid
