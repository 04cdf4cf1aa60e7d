#include "core/data/token_cache.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <functional>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/config/text_format.hpp"
#include "core/data/mapped_file.hpp"

namespace depthgrid {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian");

/// Header of a token file; the ids follow.
struct Head {
  std::array<char, 8> magic{'D', 'G', 'T', 'O', 'K', 'E', 'N', '2'};
  std::uint64_t width = 2;
  std::int64_t size = 0;
  std::int64_t bytes = 0;
  Sha256 key{};     // of text and tokeniser: the file's name may be another's
  Sha256 digest{};  // of this header, with zeros here, and the ids
};
static_assert(sizeof(Head) == 96);

Sha256 digest_of(Head head, std::span<const std::byte> ids) {
  head.digest = {};
  Sha256Stream stream;
  stream.update(std::as_bytes(std::span(&head, 1)));
  stream.update(ids);
  return stream.finish();
}

/// Of a text and its tokeniser.
Sha256 key_of(std::string_view text, const Tokenizer& tokenizer) {
  return sha256(
      fmt::format("{}\n{}\nrules {}", hex(sha256(text)), tokenizer.identity(), kTextRules));
}

/// Of ids that come from no text of ours.
Sha256 key_of(const TokenStream& tokens) {
  return sha256("ids\n" + tokens.sha256());
}

std::string file_name(const Sha256& key) {
  return hex(key) + ".tokens";
}

/// The ids in a file that is whole and bears the name of what it holds.
std::optional<TokenStream> open_checked(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return std::nullopt;
  const std::shared_ptr<const MappedFile> mapped = MappedFile::open(file);
  const std::span<const std::byte> all = mapped->bytes();
  Head head;
  const Head expected;
  bool sound = all.size() >= sizeof(Head);
  if (sound) {
    std::memcpy(&head, all.data(), sizeof(Head));
    const std::uint64_t payload = all.size() - sizeof(Head);
    sound = head.magic == expected.magic && (head.width == 2 || head.width == 4) &&
            head.size >= 0 && static_cast<std::uint64_t>(head.size) == payload / head.width &&
            payload % head.width == 0 && file_name(head.key) == file.filename() &&
            digest_of(head, all.subspan(sizeof(Head))) == head.digest;
  }
  if (!sound) {
    log(LogLevel::Warning, file.string() +
                               ": damaged token file, or of another text, tokeniser or "
                               "release; written again");
    return std::nullopt;
  }
  return TokenStream(mapped, all.data() + sizeof(Head), head.size, static_cast<int>(head.width),
                     head.bytes);
}

void write_renamed(const std::filesystem::path& file, const TokenStream& tokens,
                   const Sha256& key) {
  const std::span<const std::byte> raw = tokens.raw();
  Head head;
  head.width = static_cast<std::uint64_t>(tokens.width());
  head.size = tokens.size();
  head.bytes = tokens.bytes();
  head.key = key;
  head.digest = digest_of(head, raw);
  std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path temporary =
      fmt::format("{}.{}.{}.tmp", file.string(), ::getpid(), static_cast<const void*>(&head));
  try {
    std::ofstream out(temporary, std::ios::binary);
    out.exceptions(std::ios::failbit | std::ios::badbit);
    out.write(reinterpret_cast<const char*>(&head), sizeof(Head));
    out.write(reinterpret_cast<const char*>(raw.data()), static_cast<std::streamsize>(raw.size()));
    out.close();
    std::filesystem::rename(temporary, file);
  } catch (...) {
    std::error_code none;
    std::filesystem::remove(temporary, none);
    throw;
  }
}

/// What `make` yields, from the file of `key` if it is there, else written to it.
TokenStream through_file(const std::filesystem::path& folder, const Sha256& key,
                         const std::function<TokenStream()>& make) {
  const std::filesystem::path file = folder / file_name(key);
  std::optional<TokenStream> made;
  std::string trouble;
  try {
    if (auto found = open_checked(file)) return *found;
    made = make();
    write_renamed(file, *made, key);
    if (auto found = open_checked(file)) return *found;
  } catch (const StorageError& error) {
    trouble = error.what();
  } catch (const std::ios_base::failure& error) {
    trouble = fmt::format("{}: {}", file.string(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    trouble = error.what();
  }
  log(LogLevel::Warning, "token cache not used: " + trouble);
  return made ? *made : make();
}

}  // namespace

TokenCache::TokenCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::filesystem::path TokenCache::file_of(std::string_view text, const Tokenizer& tokenizer) const {
  return folder_ / file_name(key_of(text, tokenizer));
}

std::filesystem::path TokenCache::file_of(const TokenStream& tokens) const {
  return folder_ / file_name(key_of(tokens));
}

TokenStream TokenCache::tokens(std::string_view text, const Tokenizer& tokenizer) const {
  const auto encode = [&] {
    return TokenStream::from_ids(tokenizer.encode(text), tokenizer.vocab_size(),
                                 static_cast<std::int64_t>(text.size()));
  };
  return folder_.empty() ? encode() : through_file(folder_, key_of(text, tokenizer), encode);
}

TokenStream TokenCache::keep(const TokenStream& tokens) const {
  return folder_.empty() ? tokens : through_file(folder_, key_of(tokens), [&] { return tokens; });
}

std::optional<TokenStream> TokenCache::open(const std::filesystem::path& file) {
  return open_checked(file);
}

}  // namespace depthgrid
