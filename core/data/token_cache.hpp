#pragma once

#include <filesystem>
#include <string_view>

#include "core/data/token_stream.hpp"
#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// Tokenises each text once: token files named by the SHA-256 of text and tokeniser.
///
/// A file is written aside, renamed into place and afterwards memory-mapped. It carries the digest
/// of its ids, checked at every opening: a short or damaged one is written again. Processes may
/// share the folder. A folder that cannot be written costs a warning, not the run.
class TokenCache {
 public:
  /// @param folder  made when it is first needed; empty = keep everything in memory.
  explicit TokenCache(std::filesystem::path folder = {});

  /// The ids of `text`, which is UTF-8 if the tokeniser needs that.
  TokenStream tokens(std::string_view text, const Tokenizer& tokenizer) const;

  /// Where the ids of `text` are, or would be.
  std::filesystem::path file_of(std::string_view text, const Tokenizer& tokenizer) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace depthgrid
