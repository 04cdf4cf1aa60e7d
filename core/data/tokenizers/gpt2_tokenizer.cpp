#include <array>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/tokenizers/byte_pairs.hpp"
#include "core/data/tokenizers/gpt2_pieces.hpp"
#include "core/data/tokenizers/tokenizer_kinds.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

/// Longer pieces are rare and would only fill the cache.
constexpr std::size_t kCachedBytes = 64;
constexpr std::size_t kCachedPieces = 1U << 20U;

/// The printable character that stands for each byte in the published files.
///
/// Printable Latin-1 stands for itself; the rest follow from U+0100 on.
std::array<std::uint32_t, 256> byte_characters() {
  std::array<std::uint32_t, 256> character{};
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    character[byte] = printable ? byte : next++;
  }
  return character;
}

class Gpt2Tokenizer final : public Tokenizer {
 public:
  /// @param folder  holds encoder.json and vocab.bpe.
  explicit Gpt2Tokenizer(const std::filesystem::path& folder) { read(folder); }

  std::string identity() const override { return identity_; }
  std::int64_t vocab_size() const override { return static_cast<std::int64_t>(bytes_of_.size()); }
  std::vector<std::uint32_t> encode(std::string_view text) const override;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Ids = std::vector<std::uint32_t>;

  void append(std::uint32_t id, std::string& text) const override { text += bytes_of_[id]; }

  void read(const std::filesystem::path& folder);
  void read_merges(const std::string& text, const std::string& place,
                   const std::unordered_map<std::string, std::uint32_t>& id_of);
  void merge(std::string_view piece, Ids& out) const;
  void merge_cached(std::string_view piece, Ids& out) const;

  std::string identity_;
  std::array<std::uint32_t, 256> byte_id_{};
  BytePairs merges_;
  std::vector<std::string> bytes_of_;  // of each id
  mutable std::unordered_map<std::string, Ids, TextHash, std::equal_to<>> cache_;
};

void Gpt2Tokenizer::read(const std::filesystem::path& folder) {
  const std::string encoder_file = (folder / "encoder.json").string();
  const std::string merges_file = (folder / "vocab.bpe").string();
  const std::string encoder = read_corpus_file(encoder_file);
  const std::string merge_list = read_corpus_file(merges_file);
  identity_ = "gpt2 " + hex(sha256(hex(sha256(encoder)) + hex(sha256(merge_list))));

  const auto bad = [&](const std::string& why) {
    return UserError(ExitCode::BadData,
                     fmt::format("{}: {}; expected the published GPT-2 vocabulary: delete the "
                                 "file and run scripts/fetch_data.sh gpt2-bpe",
                                 encoder_file, why));
  };
  const auto json = parse_json_or_discard(encoder);
  if (!json.is_object()) throw bad("is not a JSON object");
  std::unordered_map<std::string, std::uint32_t> id_of;
  id_of.reserve(json.size());
  std::unordered_map<std::uint32_t, char> byte_of;
  const auto characters = byte_characters();
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    byte_of[characters[byte]] = static_cast<char>(byte);
  }
  bytes_of_.resize(json.size());
  std::vector<bool> taken(json.size());
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= json.size() ||
        taken[id.get<std::size_t>()]) {
      throw bad(fmt::format("'{}' has no id of its own below {}", token, json.size()));
    }
    const auto number = id.get<std::uint32_t>();
    taken[number] = true;
    id_of.emplace(token, number);
    for (std::size_t at = 0; at < token.size();) {
      const auto byte = byte_of.find(static_cast<std::uint32_t>(next_code_point(token, at)));
      if (byte == byte_of.end()) throw bad(fmt::format("'{}' stands for no bytes", token));
      bytes_of_[number] += byte->second;
    }
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::string token;
    append_utf8(token, characters[byte]);
    const auto found = id_of.find(token);
    if (found == id_of.end()) throw bad(fmt::format("byte 0x{:02x} has no token", byte));
    byte_id_[byte] = found->second;
  }
  read_merges(merge_list, merges_file, id_of);
}

void Gpt2Tokenizer::read_merges(const std::string& text, const std::string& place,
                                const std::unordered_map<std::string, std::uint32_t>& id_of) {
  merges_.reserve(id_of.size());
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++line_number;
    if (line.empty() || line.starts_with("#version")) continue;
    const std::size_t blank = line.find(' ');
    const std::string left(line.substr(0, blank));
    const std::string right(blank == std::string_view::npos ? "" : line.substr(blank + 1));
    const auto a = id_of.find(left);
    const auto b = id_of.find(right);
    const auto both = id_of.find(left + right);
    if (a == id_of.end() || b == id_of.end() || both == id_of.end()) {
      throw UserError(ExitCode::BadData,
                      fmt::format("{}:{}: '{}' is not a merge of two tokens of encoder.json; "
                                  "delete the files and run scripts/fetch_data.sh gpt2-bpe",
                                  place, line_number, line));
    }
    merges_.add(a->second, b->second, both->second);
  }
}

void Gpt2Tokenizer::merge(std::string_view piece, Ids& out) const {
  Ids ids;
  ids.reserve(piece.size());
  for (const char c : piece) ids.push_back(byte_id_[static_cast<unsigned char>(c)]);
  merges_.merge(ids);
  out.insert(out.end(), ids.begin(), ids.end());
}

void Gpt2Tokenizer::merge_cached(std::string_view piece, Ids& out) const {
  if (piece.size() > kCachedBytes) {
    merge(piece, out);
    return;
  }
  auto found = cache_.find(piece);
  if (found == cache_.end()) {
    if (cache_.size() >= kCachedPieces) cache_.clear();
    std::vector<std::uint32_t> ids;
    merge(piece, ids);
    found = cache_.emplace(std::string(piece), std::move(ids)).first;
  }
  out.insert(out.end(), found->second.begin(), found->second.end());
}

std::vector<std::uint32_t> Gpt2Tokenizer::encode(std::string_view text) const {
  require_utf8(text, "gpt2");
  Ids ids;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = gpt2_piece_end(text, at);
    merge_cached(text.substr(at, end - at), ids);
    at = end;
  }
  return ids;
}

}  // namespace

std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const TokenizerOptions& options, std::string_view) {
  return std::make_unique<Gpt2Tokenizer>(find_corpus("gpt2-bpe", {"encoder.json", "vocab.bpe"},
                                                     "data.tokenizer_path", options.folder));
}

}  // namespace depthgrid
