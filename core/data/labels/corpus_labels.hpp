#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/data/data_options.hpp"
#include "core/data/dataset.hpp"
#include "core/data/labels/label_source.hpp"
#include "core/data/labels/sentence_labels.hpp"

namespace depthgrid {

/// A corpus under its labels.
struct CorpusLabels {
  std::vector<Attribute> attributes;     // (c) fitted on the training text
  LabelStatistics statistics;            // of the training text
  std::array<SentenceLabels, 4> splits;  // by Split; empty = no such split
  std::vector<double> signal_entropy;    // (c) of u itself, nats per sentence
  std::vector<bool> trained;             // (c) false: one u for all sentences, left out
  std::vector<std::string> warnings;     // concern every cell under these labels
  std::vector<AttributeKind> kinds() const;
  std::string scores_sha256;  // of the segments and their scores; empty: those of rules
  std::string json() const;   // the attributes and this digest, as a store keeps them
};

/// Labels each split of a dataset that was made from texts; the texts are read again.
/// @param data              of the same options.
/// @param frozen_self_text  see read_corpus().
/// @param place             of a user's classifier.
/// @throws UserError (NoInput) if the texts are not there; (BadData) if they are not those of
///         `data`, if the training text has no sentence with a label, or if the user's labels
///         cannot be used: see LabelSource.
CorpusLabels label_corpus(const DataOptions& options, const Dataset& data,
                          const LabelOptions& labels, const std::string* frozen_self_text,
                          const CommandPlace& place = {});

}  // namespace depthgrid
