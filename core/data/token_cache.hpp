#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/data/token_stream.hpp"
#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// Tokenises each text once: token files named by the SHA-256 of text and tokeniser.
///
/// A file is written under a temporary name, renamed into place and then memory-mapped. It holds
/// the digest of text and tokeniser and that of its own content, checked at every opening: a
/// damaged file, or one of another text, is written again. Processes may share the folder. If it
/// cannot be written, the ids stay in memory and a warning is logged.
class TokenCache {
 public:
  /// @param folder  created when first needed; empty = keep everything in memory.
  explicit TokenCache(std::filesystem::path folder = {});

  bool in_memory() const { return folder_.empty(); }

  /// The ids of `text`, which must be UTF-8 if the tokeniser needs it.
  TokenStream tokens(std::string_view text, const Tokenizer& tokenizer) const;

  /// The file that holds, or would hold, the ids of `text`.
  std::filesystem::path file_of(std::string_view text, const Tokenizer& tokenizer) const;

  /// Keeps ids that come from no text of ours, under their digest.
  TokenStream keep(const TokenStream& tokens) const;
  std::filesystem::path file_of(const TokenStream& tokens) const;

  /// The ids in a token file; nothing if it is absent or damaged.
  static std::optional<TokenStream> open(const std::filesystem::path& file);

 private:
  std::filesystem::path folder_;
};

}  // namespace depthgrid
