#include "core/data/sampler.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/data/random_words.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kCounterLimit = std::int64_t{1} << 32U;
constexpr int kFeistelRounds = 6;
constexpr std::int64_t kMostDigestedWindows = 65536;  // some milliseconds; see the header

struct KindWord {
  std::string_view word;
  SamplerKind kind;
};
constexpr std::array<KindWord, 4> kKinds{{{"iid", SamplerKind::Iid},
                                          {"epoch", SamplerKind::Epoch},
                                          {"published_1", SamplerKind::Published1},
                                          {"published_2", SamplerKind::Published2}}};

std::int64_t places_of(SamplerKind kind, std::int64_t tokens, std::int64_t seq_len,
                       std::int64_t batch) {
  switch (kind) {
    case SamplerKind::Epoch:
      return (tokens - 1) / seq_len;
    case SamplerKind::Published1:
      return tokens - batch * seq_len;
    case SamplerKind::Iid:
    case SamplerKind::Published2:
      break;
  }
  return tokens - seq_len;
}

}  // namespace

SamplerKind sampler_kind(std::string_view word) {
  for (const KindWord& known : kKinds) {
    if (known.word == word) return known.kind;
  }
  throw UserError(ExitCode::Usage,
                  fmt::format("data.sampler: unknown sampler '{}'; known: iid, epoch, published_1, "
                              "published_2",
                              word));
}

Sampler::Sampler(SamplerKind kind, std::int64_t tokens, std::int64_t seq_len, std::int64_t batch)
    : kind_(kind),
      tokens_(tokens),
      seq_len_(seq_len),
      batch_(batch),
      places_(places_of(kind, tokens, seq_len, batch)) {
  if (seq_len < 1 || batch < 1 || batch >= kCounterLimit) throw Error("sampler: bad T or B");
  if (places_ < 1) {
    const std::int64_t needed = kind == SamplerKind::Published1 ? batch * seq_len : seq_len;
    throw UserError(ExitCode::BadData,
                    fmt::format("data.sampler: {} training tokens are too few; a batch reads {} "
                                "tokens in a row: use a longer text, or a smaller data.seq_len or "
                                "train.batch_size",
                                tokens, needed + 1));
  }
}

/// A permutation of [0, places): a Feistel network over the next power of four, iterated until the
/// result is below `places` (cycle walking, itself a bijection).
/// Source: Black & Rogaway (2002), Ciphers with arbitrary finite domains, CT-RSA, section 3.
std::int64_t Sampler::permuted(std::uint64_t seed, std::int64_t epoch, std::int64_t index) const {
  const RandomWords random(seed, "data/epoch");
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(places_ - 1)));
  const unsigned half = (bits + 1) / 2;
  const std::uint64_t low_mask = (std::uint64_t{1} << half) - 1;
  auto value = static_cast<std::uint64_t>(index);
  do {
    std::uint64_t left = value >> half;
    std::uint64_t right = value & low_mask;
    for (std::uint32_t round = 0; round < kFeistelRounds; ++round) {
      const std::uint32_t mixed = random.words(static_cast<std::uint32_t>(right), round,
                                               static_cast<std::uint32_t>(epoch))[0];
      left ^= mixed & low_mask;
      std::swap(left, right);
    }
    value = (left << half) | right;
  } while (value >= static_cast<std::uint64_t>(places_));
  return static_cast<std::int64_t>(value);
}

void Sampler::starts(std::uint64_t seed, std::int64_t step, std::int64_t first_row,
                     std::span<std::int64_t> out) const {
  const auto rows = static_cast<std::int64_t>(out.size());
  if (first_row < 0 || rows > batch_ - first_row || step < 0 || step >= kCounterLimit) {
    throw Error(fmt::format("sampler: rows [{}, {}) of step {} are not in a batch of {}", first_row,
                            first_row + rows, step, batch_));
  }
  const auto draw = [&, random = RandomWords(seed, "data/start")](std::int64_t row) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(places_), 0,
                                                  static_cast<std::uint32_t>(row),
                                                  static_cast<std::uint32_t>(step)));
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = first_row + i;
    const std::int64_t drawn = step * batch_ + row;  // windows before this one
    std::int64_t& start = out[static_cast<std::size_t>(i)];
    switch (kind_) {
      case SamplerKind::Iid:
      case SamplerKind::Published2:
        start = draw(row);
        break;
      case SamplerKind::Epoch:
        start = permuted(seed, drawn / places_, drawn % places_) * seq_len_;
        break;
      case SamplerKind::Published1:
        start = draw(0) + row * seq_len_;
        break;
    }
  }
}

double Sampler::epochs(std::int64_t steps) const noexcept {
  const auto windows = static_cast<double>(steps) * static_cast<double>(batch_);
  if (kind_ == SamplerKind::Epoch) return windows / static_cast<double>(places_);
  return windows * static_cast<double>(seq_len_) / static_cast<double>(tokens_);
}

std::string data_order_digest(const Sampler& sampler, std::uint64_t seed, std::int64_t steps,
                              std::string_view tokens_sha256, std::int64_t first_step) {
  const std::int64_t batch = sampler.batch(), seq_len = sampler.seq_len();
  Sha256Stream digest;
  digest.update(std::as_bytes(std::span(tokens_sha256)));
  digest.update(std::as_bytes(std::span(&seq_len, 1)));
  std::vector<std::int64_t> starts(static_cast<std::size_t>(std::min(batch, kMostDigestedWindows)));
  const auto add = [&](std::int64_t step) {
    sampler.starts(seed, first_step + step, 0, starts);
    digest.update(std::as_bytes(std::span(starts)));
  };
  if (steps <= kMostDigestedWindows / batch) {
    for (std::int64_t step = 0; step < steps; ++step) add(step);
    return hex(digest.finish(), 16);
  }
  const std::array<std::int64_t, 5> key = {static_cast<std::int64_t>(sampler.drawn_as()), batch,
                                           sampler.tokens(), steps,
                                           static_cast<std::int64_t>(seed)};
  digest.update(std::as_bytes(std::span(key)));
  add(0);
  add(steps - 1);
  return "s" + hex(digest.finish(), 15);
}

}  // namespace depthgrid
