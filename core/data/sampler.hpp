#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace depthgrid {

/// Kinds of `data.sampler`.
enum class SamplerKind : std::uint8_t { Iid, Epoch, Published1, Published2 };

/// @throws UserError for an unknown word.
SamplerKind sampler_kind(std::string_view word);

/// Starts of the windows of a training batch: a pure function of (data seed, step, global row).
///
/// So a batch does not depend on the number of ranks, accumulation steps or cells, nor on resuming.
/// A window has T + 1 tokens (inputs and targets shifted by one).
/// - iid, published_2: uniform with replacement.
/// - epoch: a new permutation of the non-overlapping windows in every epoch, taken in the order of
///   step * B + row; the last, partial window is left out.
/// - published_1: one uniform start per step; row r is the r-th of B consecutive windows.
class Sampler {
 public:
  /// @param tokens   length of the training stream.
  /// @param seq_len  T.
  /// @param batch    B, rows of the global batch.
  /// @throws UserError if the stream has no full window (published_1: no B consecutive windows).
  Sampler(SamplerKind kind, std::int64_t tokens, std::int64_t seq_len, std::int64_t batch);

  /// Starts of rows [first_row, first_row + out.size()) of the global batch of `step`.
  /// @throws Error unless the rows lie in [0, B).
  void starts(std::uint64_t seed, std::int64_t step, std::int64_t first_row,
              std::span<std::int64_t> out) const;

  /// Equal for kinds that draw alike.
  SamplerKind drawn_as() const noexcept {
    return kind_ == SamplerKind::Published2 ? SamplerKind::Iid : kind_;
  }
  std::int64_t tokens() const noexcept { return tokens_; }
  std::int64_t batch() const noexcept { return batch_; }
  std::int64_t seq_len() const noexcept { return seq_len_; }

  /// Passes over the training stream after `steps` steps: tokens drawn / tokens in the stream.
  double epochs(std::int64_t steps) const noexcept;

 private:
  std::int64_t permuted(std::uint64_t seed, std::int64_t epoch, std::int64_t index) const;

  SamplerKind kind_;
  std::int64_t tokens_;
  std::int64_t seq_len_;
  std::int64_t batch_;
  std::int64_t places_;  // possible starts, or windows per epoch
};

/// Digest of the sequence of batches of `steps` steps after the first `first_step` ones: 16
/// characters. Cells with equal digests are paired.
///
/// Up to 65,536 drawn windows: hexadecimal digits, of the tokens' digest and all starts. Beyond:
/// the letter s and 15 digits, of the tokens' digest, all that the starts are a function of (kind,
/// T, B, length of the text, steps, seed), and the starts of the first and the last step.
std::string data_order_digest(const Sampler& sampler, std::uint64_t seed, std::int64_t steps,
                              std::string_view tokens_sha256, std::int64_t first_step = 0);

}  // namespace depthgrid
