#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/data_options.hpp"
#include "core/data/dataset.hpp"
#include "core/data/labels/sentence_labels.hpp"

namespace depthgrid {

/// What a corpus is labelled by: leaves `model.control.names` and `train.control.labels`.
struct LabelOptions {
  std::vector<std::string> names;
  Terminator terminator = Terminator::Spaced;
  std::optional<LabelMap> map = {};  // none: as the kind of each attribute says
};
LabelOptions label_options(const CellConfig& config);

/// A corpus under its labels.
struct CorpusLabels {
  std::vector<Attribute> attributes;     // (c) fitted on the training text
  LabelStatistics statistics;            // of the training text
  std::array<SentenceLabels, 4> splits;  // by Split; empty = no such split
  std::vector<double> signal_entropy;    // (c) of u itself, nats per sentence
  std::vector<bool> trained;             // (c) false: one u for all sentences, left out
  std::vector<std::string> warnings;     // concern every cell under these labels
  std::vector<AttributeKind> kinds() const;
  std::string json() const;  // the attributes, as a store keeps them
};

/// Labels each split of a dataset that was made from texts; the texts are read again.
/// @param data              of the same options.
/// @param frozen_self_text  see read_corpus().
/// @throws UserError (NoInput) if the texts are not there; (BadData) if they are not those of
///         `data`, or if the training text has no sentence with a label.
CorpusLabels label_corpus(const DataOptions& options, const Dataset& data,
                          const LabelOptions& labels, const std::string* frozen_self_text);

}  // namespace depthgrid
