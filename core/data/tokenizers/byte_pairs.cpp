#include "core/data/tokenizers/byte_pairs.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
  return (std::uint64_t{left} << 32U) | right;
}

}  // namespace

void BytePairs::add(std::uint32_t left, std::uint32_t right, std::uint32_t both) {
  merges_.insert_or_assign(pair_key(left, right), Merge{next_rank_++, both});
}

std::size_t BytePairs::merge(std::vector<std::uint32_t>& ids) const {
  if (ids.size() >= kNoRank) {
    throw Error(
        fmt::format("gpt2: a piece of {} bytes without a break between words; at most {} "
                    "can be merged: put blanks or line breaks into the text",
                    ids.size(), kNoRank - 1));
  }
  const auto n = static_cast<std::uint32_t>(ids.size());
  // The ids as a list: a merge drops the right one of its pair. merge_at: of the pair that begins
  // there.
  std::vector<std::uint32_t> before(n), after(n);
  std::vector<Merge> merge_at(n, Merge{kNoRank, 0});
  std::map<std::uint32_t, std::vector<std::uint32_t>> places;  // of each rank, yet to be merged
  std::size_t examined = 0;
  const auto examine = [&](std::uint32_t at) {
    merge_at[at].rank = kNoRank;
    if (after[at] == n) return;
    ++examined;
    const auto found = merges_.find(pair_key(ids[at], ids[after[at]]));
    if (found == merges_.end()) return;
    merge_at[at] = found->second;
    places[found->second.rank].push_back(at);
  };
  for (std::uint32_t at = 0; at < n; ++at) {
    before[at] = at - 1;  // not read at 0
    after[at] = at + 1;
  }
  for (std::uint32_t at = 0; at < n; ++at) examine(at);
  while (!places.empty()) {
    auto round = places.extract(places.begin());
    std::ranges::sort(round.mapped());
    for (const std::uint32_t at : round.mapped()) {
      if (merge_at[at].rank != round.key())
        continue;  // a neighbour's merge has taken one of the two
      const std::uint32_t dropped = after[at];
      ids[at] = merge_at[at].id;
      merge_at[dropped].rank = kNoRank;
      after[at] = after[dropped];
      if (after[at] < n) before[after[at]] = at;
      examine(at);
      if (at > 0) examine(before[at]);
    }
  }
  std::size_t kept = 0;
  for (std::uint32_t at = 0; at < n; at = after[at]) ids[kept++] = ids[at];
  ids.resize(kept);
  return examined;
}

}  // namespace depthgrid
