#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/data/corpus.hpp"
#include "core/data/token_stream.hpp"

namespace depthgrid {

/// A pre-tokenised text: NAME.bin, little-endian ids, and its side-car NAME.json.
///
/// The side-car has `dtype` ("uint16" or "uint32") and `vocab_size`; optionally `tokenizer` (must
/// be the sweep's), `tokens` (checked against the file's size) and `bytes` (UTF-8 bytes of the
/// text, for bits per byte; not used if the named tokeniser does not keep them).
struct TokenFile {
  TokenStream tokens;
  std::int64_t vocab_size = 0;
  std::string tokenizer;  // empty = not stated
  SourceFile source;      // digest over both files
};

/// @throws UserError (NoInput, BadData) naming the file, the field and what was expected.
TokenFile read_token_file(const std::filesystem::path& bin);

}  // namespace depthgrid
