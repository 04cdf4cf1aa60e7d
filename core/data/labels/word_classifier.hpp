#pragma once

#include <cstdint>
#include <vector>

#include "core/data/labels/sentence_labels.hpp"
#include "core/data/token_stream.hpp"

namespace depthgrid {

/// Logistic regression of labels on the tokens of a sentence, for c axes: the log-odds of a
/// positive label are bias + Σ_v share of token v in the sentence · weight_v.
struct WordClassifier {
  std::vector<float> weight;  // (c, V)
  std::vector<float> bias;    // (c)
};

/// Fits it on the labelled sentences of a text, one after the other, several times: a function of
/// its arguments alone. Axes without labels have zero weights.
/// @param labels  of `tokens`. @param vocabulary  V; every token is below it.
/// Source of the steps: AdaGrad, Duchi et al. (2011), JMLR 12, with a little decay.
WordClassifier fit_words(const TokenStream& tokens, const SentenceLabels& labels,
                         std::int64_t vocabulary);

}  // namespace depthgrid
