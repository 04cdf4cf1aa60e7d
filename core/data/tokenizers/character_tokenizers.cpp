#include <algorithm>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/data/tokenizers/tokenizer_kinds.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

/// @param what  begins the message if the text is not UTF-8.
template <class Use>
void each_code_point(std::string_view text, const char* what, const Use& use) {
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t code = next_code_point(text, at);
    if (code < 0) throw Error(std::string(what) + " is not UTF-8");
    use(static_cast<std::uint32_t>(code));
  }
}

class ByteTokenizer final : public Tokenizer {
 public:
  std::string identity() const override { return "byte"; }
  std::int64_t vocab_size() const override { return 256; }
  bool needs_utf8() const override { return false; }

  std::vector<std::uint32_t> encode(std::string_view text) const override {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    return {bytes, bytes + text.size()};
  }

 private:
  void append(std::uint32_t id, std::string& text) const override { text += static_cast<char>(id); }
};

class Char256Tokenizer final : public Tokenizer {
 public:
  std::string identity() const override { return "char256"; }
  std::int64_t vocab_size() const override { return 256; }

  std::vector<std::uint32_t> encode(std::string_view text) const override {
    std::vector<std::uint32_t> ids;
    ids.reserve(text.size());
    each_code_point(text, "char256: the text",
                    [&](std::uint32_t code) { ids.push_back(std::min(code, 255U)); });
    return ids;
  }

 private:
  void append(std::uint32_t id, std::string& text) const override { append_utf8(text, id); }
};

class CharTokenizer final : public Tokenizer {
 public:
  explicit CharTokenizer(std::string_view train_text) {
    std::vector<bool> seen(0x110000);
    each_code_point(train_text, "char: the training text",
                    [&](std::uint32_t code) { seen[code] = true; });
    for (std::uint32_t code = 0; code < seen.size(); ++code) {
      if (!seen[code]) continue;
      characters_.push_back(code);
      id_.resize(code + 1, 0);
      id_[code] = static_cast<std::uint32_t>(characters_.size());
    }
  }

  std::string identity() const override {
    return "char " + hex(sha256(std::as_bytes(std::span(characters_))));
  }

  std::int64_t vocab_size() const override {
    return static_cast<std::int64_t>(characters_.size()) + 1;
  }

  std::vector<std::string> vocabulary() const override {
    std::vector<std::string> characters;
    for (const std::uint32_t code : characters_) append_utf8(characters.emplace_back(), code);
    return characters;
  }

  std::vector<std::uint32_t> encode(std::string_view text) const override {
    std::vector<std::uint32_t> ids;
    ids.reserve(text.size());
    each_code_point(text, "char: the text",
                    [&](std::uint32_t code) { ids.push_back(code < id_.size() ? id_[code] : 0); });
    return ids;
  }

 private:
  void append(std::uint32_t id, std::string& text) const override {
    append_utf8(text, id == 0 ? 0xFFFDU : characters_[id - 1]);
  }

  std::vector<std::uint32_t> characters_;  // code point of id i + 1
  std::vector<std::uint32_t> id_;          // of each code point up to the greatest known
};

}  // namespace

std::unique_ptr<Tokenizer> make_byte_tokenizer(const TokenizerOptions&, std::string_view) {
  return std::make_unique<ByteTokenizer>();
}

std::unique_ptr<Tokenizer> make_char256_tokenizer(const TokenizerOptions&, std::string_view) {
  return std::make_unique<Char256Tokenizer>();
}

std::unique_ptr<Tokenizer> make_char_tokenizer(const TokenizerOptions& options,
                                               std::string_view train_text) {
  if (options.vocabulary.empty()) return std::make_unique<CharTokenizer>(train_text);
  std::string characters;
  for (const std::string& character : options.vocabulary) characters += character;
  return std::make_unique<CharTokenizer>(characters);
}

}  // namespace depthgrid
