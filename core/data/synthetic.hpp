#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/data_options.hpp"

namespace depthgrid {

/// Streams of a synthetic source and its entropy rate.
struct SyntheticData {
  std::vector<std::uint32_t> train, dev, valid;  // dev and valid: 5 % of `tokens` each
  double entropy_rate = 0;                       // nats per token, exact
};

/// Draws `corpus`; the same data for every seed of a sweep.
///
/// - `synthetic:markov`: see MarkovChain.
/// - `synthetic:copy`: `lag` uniform symbols, the same `lag` symbols again, and so on:
///   h = (ln V) / 2.
/// - `synthetic:induction`: pairs of a uniform key (the K = floor(V/2) lowest symbols) and a value
///   (one of the others). The value repeats that of the key's last occurrence if this lies at most
///   `lag` tokens back, else it is uniform: h = (ln K + (1 - 1/K)^floor(lag/2) ln(V - K)) / 2.
///   Without looking back the data appear uniform: attention is needed.
/// @throws UserError for an unknown name or inconsistent numbers.
SyntheticData draw_synthetic(const std::string& corpus, const SyntheticOptions& options);

/// `tokens` symbols of `copy` and `induction`; `stream` names their random numbers.
std::vector<std::uint32_t> draw_copy(std::int64_t tokens, const SyntheticOptions& options,
                                     std::string_view stream);
std::vector<std::uint32_t> draw_induction(std::int64_t tokens, const SyntheticOptions& options,
                                          std::string_view stream);

/// Exact entropy rates, in nats per token.
double copy_entropy_rate(const SyntheticOptions& options);
double induction_entropy_rate(const SyntheticOptions& options);

}  // namespace depthgrid
