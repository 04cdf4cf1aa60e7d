#pragma once

#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// The characters of a text, sorted by code point: ids 1, 2, ...; 0 stands for every other.
class CharTokenizer final : public Tokenizer {
 public:
  using Tokenizer::encode;

  /// @param train_text  UTF-8; V = number of its distinct characters + 1.
  explicit CharTokenizer(std::string_view train_text);

  std::string identity() const override;
  std::int64_t vocab_size() const override;
  void encode(std::string_view text, std::vector<std::uint32_t>& out) const override;

  /// Id 0 decodes to U+FFFD.
  std::string decode(std::span<const std::uint32_t> ids) const override;

 private:
  std::vector<std::uint32_t> characters_;  // code point of id i + 1
  std::vector<std::uint32_t> id_;          // of each code point up to the greatest known
};

}  // namespace depthgrid
