#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/data/eval_windows.hpp"
#include "core/data/token_stream.hpp"
#include "core/train/language_model.hpp"

namespace depthgrid {

/// One cell's figures over the windows of a split.
struct EvalResult {
  double loss = 0;   // nats per token
  double error = 0;  // standard error of the loss over windows
  std::int64_t tokens = 0;
  double perplexity = 0;
  double bits_per_byte = 0;  // NaN if the stream has no text
  double accuracy = 0;
  std::vector<double> by_position;  // (T) nats per token; NaN where no prediction counts
};

/// Evaluates all cells on the same windows, summing in double precision, window by window.
/// @param batch_size  windows per forward pass.
/// @param stop        polled before every batch: true ends the evaluation.
/// @return            (E); an empty split gives NaN and no tokens. Empty if stopped.
/// The standard error is that of a ratio estimate: windows are the sampled units, their tokens the
/// sizes (Cochran (1977), Sampling Techniques, eq. 6.13, without the finite-population factor).
std::vector<EvalResult> evaluate(LanguageModel& model, std::int64_t cells,
                                 const TokenStream& stream, const EvalWindows& windows,
                                 std::int64_t batch_size, const std::function<bool()>& stop = {});

}  // namespace depthgrid
