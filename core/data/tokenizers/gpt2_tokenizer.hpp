#pragma once

#include <filesystem>
#include <memory>

#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// GPT-2's byte-pair encoding, from its two published files.
///
/// Text is split by the published Unicode pattern; each piece's bytes are merged in the order of
/// vocab.bpe. Pieces are cached. `<|endoftext|>` in a text is plain text.
/// Source: Radford et al. (2019), Language Models are Unsupervised Multitask Learners, section 2.2;
/// Sennrich, Haddow & Birch (2016), ACL, algorithm 1.
class Gpt2Tokenizer final : public Tokenizer {
 public:
  using Tokenizer::encode;

  /// @param folder  holds encoder.json and vocab.bpe.
  /// @throws UserError (NoInput) if a file is missing, (BadData) if it is malformed.
  explicit Gpt2Tokenizer(const std::filesystem::path& folder);
  ~Gpt2Tokenizer() override;

  std::string identity() const override;
  std::int64_t vocab_size() const override;
  void encode(std::string_view text, std::vector<std::uint32_t>& out) const override;
  std::string decode(std::span<const std::uint32_t> ids) const override;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace depthgrid
