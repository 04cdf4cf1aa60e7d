#include "core/data/kept_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/data/dataset.hpp"

namespace depthgrid {
namespace {

/// Which ids of a tokeniser stand for several texts.
enum class Vague : std::uint8_t { None, One, All };

struct KeptRow {
  std::string_view tokenizer;
  Vague vague;
  std::uint32_t id;  // of Vague::One
};
constexpr std::array kKept = {
    KeptRow{"byte", Vague::None, 0},      // one id for each byte
    KeptRow{"gpt2", Vague::None, 0},      // pairs of bytes
    KeptRow{"char256", Vague::One, 255},  // all characters from U+00FF
    KeptRow{"char", Vague::One, 0},       // all characters that the training text lacks
    KeptRow{"word", Vague::All, 0},       // the white space around a word is in no id
};

}  // namespace

bool keeps_text(std::string_view tokenizer, const TokenStream& ids) {
  const auto* const row = std::ranges::find(kKept, tokenizer, &KeptRow::tokenizer);
  if (row == kKept.end() || row->vague == Vague::All) return false;
  return row->vague == Vague::None || !ids.holds(row->id);
}

std::int64_t bytes_of(const Tokenizer& tokenizer, const TokenStream& ids) {
  constexpr std::int64_t kAtOnce = 65536;
  std::int64_t bytes = 0;
  std::vector<std::int64_t> stored;
  for (std::int64_t first = 0; first < ids.size(); first += kAtOnce) {
    stored.resize(static_cast<std::size_t>(std::min(kAtOnce, ids.size() - first)));
    ids.copy(first, stored);
    const std::vector<std::uint32_t> part(stored.begin(), stored.end());
    bytes += static_cast<std::int64_t>(tokenizer.decode(part).size());
  }
  return bytes;
}

void describe_splits(Dataset& data, std::string_view tokenizer) {
  for (std::size_t s = 0; s < data.streams.size(); ++s) {
    TokenStream& ids = data.streams[s];
    if (ids.empty()) continue;
    if (data.tokenizer && ids.bytes() > 0 && !keeps_text(tokenizer, ids)) ids = ids.with_bytes(0);
    data.split_sha256[s] = ids.sha256();
  }
}

}  // namespace depthgrid
