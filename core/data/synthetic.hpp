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

/// Draws `corpus`, equal for every seed of a sweep.
///
/// - `synthetic:markov`: see MarkovChain.
/// - `synthetic:copy`: `lag` uniform symbols, then the same `lag` symbols again, and so on:
///   h = (ln V) / 2.
/// - `synthetic:induction`: pairs of a key (symbols below floor(V/2)) and a value (the others).
/// Keys
///   are uniform; the value is the one that followed the key's last appearance, if that lies at
///   most `lag` tokens back, else uniform: h = (ln K + (1 - 1/K)^floor(lag/2) ln(V - K)) / 2, K =
///   keys. Uniform data from a model without memory over distance: attention has to look back.
/// @throws UserError for an unknown name or numbers that do not fit together.
SyntheticData draw_synthetic(const std::string& corpus, const SyntheticOptions& options);

/// `tokens` symbols of the two sources above; `stream` names their random numbers.
std::vector<std::uint32_t> draw_copy(std::int64_t tokens, const SyntheticOptions& options,
                                     std::string_view stream);
std::vector<std::uint32_t> draw_induction(std::int64_t tokens, const SyntheticOptions& options,
                                          std::string_view stream);

/// Nats per token.
double copy_entropy_rate(const SyntheticOptions& options);
double induction_entropy_rate(const SyntheticOptions& options);

}  // namespace depthgrid
