#pragma once

#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// One id per byte, V = 256; accepts any file.
class ByteTokenizer final : public Tokenizer {
 public:
  using Tokenizer::encode;
  std::string identity() const override { return "byte"; }
  std::int64_t vocab_size() const override { return 256; }
  bool needs_utf8() const override { return false; }
  void encode(std::string_view text, std::vector<std::uint32_t>& out) const override;
  std::string decode(std::span<const std::uint32_t> ids) const override;
};

}  // namespace depthgrid
