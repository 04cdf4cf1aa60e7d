#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace depthgrid {

/// Number of the rules by which text becomes tokens; in the key of cached tokens and in what a
/// store pins; docs/store-format.md, "Text rules", says what each changed.
inline constexpr int kTextRules = 2;

/// How a user's file holds its text.
enum class TextFormat : std::uint8_t {
  Text,   // as it is, UTF-8
  Jsonl,  // JSON objects, one a line
  Tokens  // ids, with a side-car NAME.json
};

/// The format that `data.format` (auto, text, jsonl or tokens) says of a file. auto goes by the
/// suffix, in any case: .jsonl and .ndjson are JSONL, .bin is tokens, everything else text.
TextFormat text_format(const std::filesystem::path& file, std::string_view word);

/// Why a file with these contents cannot be read in the format that `word` says of it, and what to
/// do: it is compressed, UTF-16, binary, or one JSON value. Empty = it can. Magic numbers: those of
/// each format's own specification (RFC 1952 gzip, RFC 8878 zstd, ...); byte order marks: Unicode
/// 15, section 23.8.
/// @param bytes      the file's contents, or their beginning.
/// @param any_bytes  the tokeniser takes bytes as they are; they are then allowed if `word` is
/// `text`.
std::string unreadable_content(const std::filesystem::path& file, std::string_view word,
                               std::string_view bytes, bool any_bytes);

/// `text` without UTF-8's byte order mark.
std::string_view without_mark(std::string_view text);

}  // namespace depthgrid
