#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace depthgrid {

/// The list of merges of a byte-pair encoding, and their application to one piece of text.
/// Source: Sennrich, Haddow & Birch (2016), ACL, algorithm 1; the order of the released encoder.py.
class BytePairs {
 public:
  void reserve(std::size_t pairs) { merges_.reserve(pairs); }

  /// Appends a merge: (left, right) -> both. A pair that is listed twice counts where it stands
  /// last.
  void add(std::uint32_t left, std::uint32_t right, std::uint32_t both);

  /// Merges in place: again and again, of all pairs in `ids` the one listed first, at all its
  /// places from the left.
  ///
  /// Each merge changes two pairs, so that n ids need at most 3 n of them to be examined; places
  /// are sorted within a rank, which makes the time n log n at worst.
  /// @return  how many pairs were examined.
  /// @throws Error for 2^32 - 1 ids or more.
  std::size_t merge(std::vector<std::uint32_t>& ids) const;

 private:
  struct Merge {
    std::uint32_t rank;
    std::uint32_t id;
  };
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::uint32_t next_rank_ = 0;
};

}  // namespace depthgrid
