#include <array>
#include <filesystem>
#include <limits>
#include <unordered_map>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pcre2.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/unique_handle.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/tokenizers/tokenizer_kinds.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {
namespace {

/// The published pattern, verbatim.
constexpr std::string_view kPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Longer pieces are rare and would only fill the cache.
constexpr std::size_t kCachedBytes = 64;
constexpr std::size_t kCachedPieces = 1U << 20U;

std::string pcre2_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

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

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
  return (std::uint64_t{left} << 32U) | right;
}

template <class T, void (*kFree)(T*)>
struct Pcre2Traits {
  using Handle = T*;
  static constexpr Handle null() noexcept { return nullptr; }
  static void release(Handle h) noexcept { kFree(h); }
};

class Gpt2Tokenizer final : public Tokenizer {
 public:
  /// @param folder  holds encoder.json and vocab.bpe.
  explicit Gpt2Tokenizer(const std::filesystem::path& folder) {
    read(folder);
    compile();
  }

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
  struct Merge {
    std::uint32_t rank;
    std::uint32_t id;
  };
  using Ids = std::vector<std::uint32_t>;

  void append(std::uint32_t id, std::string& text) const override { text += bytes_of_[id]; }

  void read(const std::filesystem::path& folder);
  void read_merges(const std::string& text, const std::string& place,
                   const std::unordered_map<std::string, std::uint32_t>& id_of);
  void compile();
  void merge(std::string_view piece, Ids& out) const;
  void merge_cached(std::string_view piece, Ids& out) const;

  std::string identity_;
  std::array<std::uint32_t, 256> byte_id_{};
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::vector<std::string> bytes_of_;  // of each id
  UniqueHandle<Pcre2Traits<pcre2_code, pcre2_code_free>> pattern_;
  UniqueHandle<Pcre2Traits<pcre2_match_data, pcre2_match_data_free>> match_;
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
  std::uint32_t rank = 0;
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
    merges_.emplace(pair_key(a->second, b->second), Merge{rank++, both->second});
  }
}

void Gpt2Tokenizer::compile() {
  int code = 0;
  PCRE2_SIZE offset = 0;
  pattern_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern.data()), kPattern.size(),
                               PCRE2_UTF | PCRE2_UCP, &code, &offset, nullptr));
  if (!pattern_) throw BackendError("PCRE2", "pcre2_compile", code, pcre2_message(code));
  // Without JIT (a hardened kernel may forbid it) the matches are the same, only slower.
  pcre2_jit_compile(pattern_.get(), PCRE2_JIT_COMPLETE);
  match_.reset(pcre2_match_data_create_from_pattern(pattern_.get(), nullptr));
}

void Gpt2Tokenizer::merge(std::string_view piece, Ids& out) const {
  constexpr Merge kNone{std::numeric_limits<std::uint32_t>::max(), 0};
  std::vector<std::uint32_t> ids;
  ids.reserve(piece.size());
  for (const char c : piece) ids.push_back(byte_id_[static_cast<unsigned char>(c)]);
  // What merging id i with its right neighbour would give; looked up once per new pair.
  std::vector<Merge> next(ids.size(), kNone);
  const auto look_up = [&](std::size_t i) {
    if (i + 1 >= ids.size()) return kNone;
    const auto found = merges_.find(pair_key(ids[i], ids[i + 1]));
    return found == merges_.end() ? kNone : found->second;
  };
  for (std::size_t i = 0; i < ids.size(); ++i) next[i] = look_up(i);
  while (ids.size() > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < ids.size(); ++i) {
      if (next[i].rank < next[best].rank) best = i;
    }
    if (next[best].rank == kNone.rank) break;
    // One occurrence at a time, leftmost first: a pair created by a merge has a higher rank, so
    // this equals merging all occurrences at once.
    ids[best] = next[best].id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    next.erase(next.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    next[best] = look_up(best);
    if (best > 0) next[best - 1] = look_up(best - 1);
  }
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
  require_utf8(text, "gpt2");  // so the matcher need not check
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  const PCRE2_SIZE* const range = pcre2_get_ovector_pointer(match_.get());
  Ids ids;
  for (std::size_t at = 0; at < text.size(); at = range[1]) {
    const int code = pcre2_match(pattern_.get(), subject, text.size(), at, PCRE2_NO_UTF_CHECK,
                                 match_.get(), nullptr);
    if (code < 0) throw BackendError("PCRE2", "pcre2_match", code, pcre2_message(code));
    if (range[0] != at) throw Error("gpt2: the pattern left out a character");
    merge_cached(text.substr(at, range[1] - at), ids);
  }
  return ids;
}

}  // namespace

std::unique_ptr<Tokenizer> make_gpt2_tokenizer(const TokenizerOptions& options, std::string_view) {
  return std::make_unique<Gpt2Tokenizer>(find_corpus("gpt2-bpe", {"encoder.json", "vocab.bpe"},
                                                     "data.tokenizer_path", options.folder));
}

}  // namespace depthgrid
