#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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

/// The name of the format that `auto` reads a file in by its suffix, where its contents alone
/// suggest another: JSONL begins with a brace, tokens have bytes that are 0. Else empty, as for
/// every other word, which is itself part of a cell's identity. So equal bytes that are read in
/// different formats are different texts, and a cell that reads a file as what it looks like has
/// the name that it has had since release 0.1.
/// @param beginning  of the file: its first kBeginning bytes, or all.
std::string_view read_as(const std::filesystem::path& file, std::string_view word,
                         std::string_view beginning);
inline constexpr std::size_t kBeginning = 65536;

/// The first kBeginning bytes of a file, or all; empty if it cannot be read.
std::string beginning_of(const std::filesystem::path& file);

/// What identifies a text: the SHA-256 of its file, and of how it is read. @param as  of read_as().
std::string text_digest(const std::string& sha256, std::string_view as);
/// The same of a file. @throws UserError (NoInput) if it cannot be read.
std::string text_digest_of(const std::filesystem::path& file, std::string_view word);

/// Why a file with these contents cannot be read in the format that `word` says of it, and what to
/// do: it is compressed, UTF-16, binary, or one JSON value. Empty = it can. Magic numbers: those of
/// each format's own specification (RFC 1952 gzip, RFC 8878 zstd, ...); byte order marks: Unicode
/// 15, section 23.8.
/// @param bytes      the file's contents, or their beginning.
/// @param any_bytes  the tokeniser takes bytes as they are; they are then allowed if `word` is
/// `text`.
std::string unreadable_content(const std::filesystem::path& file, std::string_view word,
                               std::string_view bytes, bool any_bytes);

/// What a user's whole file holds as a text, as far as that can be known without a tokeniser.
struct TextContents {
  std::int64_t bytes = 0;  // of the text, which has no more tokens than these
  bool blank = true;       // nothing but ASCII's white space
  std::string problem;     // of a line that is no record; empty = none
};
/// @param bytes     all of the file. @param text_key  field of JSONL that holds the text.
TextContents text_contents(const std::filesystem::path& file, std::string_view word,
                           std::string_view bytes, const std::string& text_key);

/// Calls `take` with the text of each record of a JSONL text, in the order of lines.
/// @param blank  whether a line is passed over. @param place  names the text in the problem.
/// @return  why a line is no record with a text, where it ends; empty if all are.
std::string each_record(std::string_view jsonl, const std::string& text_key,
                        const std::string& place,
                        const std::function<bool(std::string_view line)>& blank,
                        const std::function<void(const std::string& text)>& take);

/// `text` without UTF-8's byte order mark.
std::string_view without_mark(std::string_view text);

}  // namespace depthgrid
