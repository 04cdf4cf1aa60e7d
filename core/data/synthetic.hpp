#pragma once

#include <cstdint>
#include <string>
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

}  // namespace depthgrid
