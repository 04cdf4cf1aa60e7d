#pragma once

#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// id = min(code point, 255), as in the first study; V = 256. All characters from U+00FF share one.
class Char256Tokenizer final : public Tokenizer {
 public:
  using Tokenizer::encode;
  std::string identity() const override { return "char256"; }
  std::int64_t vocab_size() const override { return 256; }
  void encode(std::string_view text, std::vector<std::uint32_t>& out) const override;
  std::string decode(std::span<const std::uint32_t> ids) const override;
};

}  // namespace depthgrid
