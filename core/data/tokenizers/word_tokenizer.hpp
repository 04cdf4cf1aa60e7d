#pragma once

#include <functional>
#include <unordered_map>

#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// Words separated by ASCII white space: ids 1 .. V - 1 for the most frequent of a text, 0 for
/// every other. Equally frequent words are ordered by their bytes.
class WordTokenizer final : public Tokenizer {
 public:
  using Tokenizer::encode;
  WordTokenizer(std::string_view train_text, std::int64_t vocab_size);

  std::string identity() const override;
  std::int64_t vocab_size() const override { return vocab_size_; }
  void encode(std::string_view text, std::vector<std::uint32_t>& out) const override;

  /// Words joined by single spaces; id 0 decodes to "<unk>".
  std::string decode(std::span<const std::uint32_t> ids) const override;

 private:
  struct Hash {  // lets string_view look words up without a copy
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const noexcept {
      return std::hash<std::string_view>{}(word);
    }
  };

  std::int64_t vocab_size_;
  std::vector<std::string> words_;  // of id i + 1
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> id_;
};

}  // namespace depthgrid
