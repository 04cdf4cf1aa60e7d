#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/data/corpus.hpp"
#include "core/data/token_stream.hpp"

namespace depthgrid {

/// Ids that somebody tokenised before: NAME.bin, little-endian, with NAME.json beside it.
///
/// The side-car: `dtype` ("uint16" or "uint32") and `vocab_size` (both needed), `tokenizer` (must
/// be the sweep's if it is there), `tokens` (checked against the file's size if it is there) and
/// `bytes` (UTF-8 bytes of the text, for bits per byte).
struct TokenFile {
  TokenStream tokens;
  std::int64_t vocab_size = 0;
  std::string tokenizer;  // empty = not said
  SourceFile source;      // digest over both files
};

/// @throws UserError (NoInput, BadData) naming file, field and what was expected.
TokenFile read_token_file(const std::filesystem::path& bin);

/// Writes ids and side-car; for tests and for programs that prepare data.
void write_token_file(const std::filesystem::path& bin, const TokenStream& tokens,
                      std::int64_t vocab_size, const std::string& tokenizer);

}  // namespace depthgrid
