#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// Converts between text and token ids. Immutable but for caches; not thread-safe.
class Tokenizer {
 public:
  Tokenizer() = default;
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Everything that the ids depend on ("char256", "gpt2 <digest of its files>"); goes into the
  /// name of a token file.
  virtual std::string identity() const = 0;

  /// Number of ids; encode() yields ids below it.
  virtual std::int64_t vocab_size() const = 0;

  /// The vocabulary if it comes from the training text (`char`: characters, `word`: words), in the
  /// order of its ids from 1 on; else empty.
  virtual std::vector<std::string> vocabulary() const { return {}; }

  /// False only if any bytes are accepted.
  virtual bool needs_utf8() const { return true; }

  /// @param text  UTF-8 if needs_utf8(), already checked (else Error).
  virtual std::vector<std::uint32_t> encode(std::string_view text) const = 0;

  /// The text of `ids`; for `byte` and `gpt2` exactly what was encoded.
  /// @throws Error for an id of vocab_size() or more.
  std::string decode(std::span<const std::uint32_t> ids) const;

 private:
  /// Appends what `id`, which is below vocab_size(), stands for.
  virtual void append(std::uint32_t id, std::string& text) const = 0;
};

/// Arguments of make_tokenizer besides the training text.
struct TokenizerOptions {
  std::string kind = "char256";           // char256, byte, char, gpt2, word
  std::int64_t word_vocab_size = 0;       // V of `word`, the unknown word included
  std::filesystem::path folder;           // of encoder.json and vocab.bpe; empty = search order
  std::vector<std::string> vocabulary{};  // of `char` and `word`, see Tokenizer::vocabulary()
};

/// Makes the tokeniser of `data.tokenizer`.
/// @param train_text  source of the vocabulary of `char` and `word` unless `options` has it; unused
///                    by the others.
/// @throws UserError for an unknown kind; (NoInput) if the files of `gpt2` are missing;
///         (BadData) if they are damaged.
std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options,
                                          std::string_view train_text);

}  // namespace depthgrid
