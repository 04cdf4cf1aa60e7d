#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/cells/cell_rng.hpp"

namespace depthgrid {

/// Random numbers of one named stream, each a pure function of key and position.
///
/// Layout as for tensors: Philox4x32-10, key = seed, counter = (index, row, step, stream).
class RandomWords {
 public:
  RandomWords(std::uint64_t key, std::string_view stream)
      : key_{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)},
        stream_(stream_id(stream)) {}

  /// Four 32-bit words.
  std::array<std::uint32_t, 4> words(std::uint32_t index, std::uint32_t row,
                                     std::uint32_t step) const {
    return philox4x32_10({index, row, step, stream_}, key_);
  }

  /// 64 bits.
  std::uint64_t word64(std::uint32_t index, std::uint32_t row, std::uint32_t step) const {
    const auto w = words(index, row, step);
    return (std::uint64_t{w[1]} << 32U) | w[0];
  }

  /// An integer in [0, n), biased by less than n / 2^64.
  /// Source: Lemire (2019), Fast random integer generation in an interval, ACM TOMACS 29, eq. 3.
  std::uint64_t below(std::uint64_t n, std::uint32_t index, std::uint32_t row,
                      std::uint32_t step) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(word64(index, row, step)) * n) >> 64U);
  }

  /// A real number in [0, 1) with 53 bits.
  double unit(std::uint32_t index, std::uint32_t row, std::uint32_t step) const {
    return static_cast<double>(word64(index, row, step) >> 11U) * 0x1p-53;
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t stream_;
};

}  // namespace depthgrid
