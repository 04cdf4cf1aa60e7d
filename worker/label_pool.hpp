#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/config/cell_config.hpp"
#include "core/data/labels/corpus_labels.hpp"
#include "storage/store.hpp"
#include "worker/data_pool.hpp"

namespace depthgrid {

/// The labels of a sweep's corpora, each made once. What was fitted on the training text
/// (thresholds and ranks) is kept in the store: all its cells are labelled alike.
class LabelPool {
 public:
  /// Both outlive this. @param alive  called while a user's classifier runs; false ends it.
  LabelPool(const Store& store, DataPool& data, std::function<bool()> alive = {})
      : store_(store), data_(data), alive_(std::move(alive)) {}

  /// Nothing unless the cell has `train.task: control`.
  /// @throws UserError: see label_corpus(); (BadData) if the store's cells were labelled otherwise.
  std::shared_ptr<const CorpusLabels> open(const CellConfig& config);

 private:
  const Store& store_;
  DataPool& data_;
  std::function<bool()> alive_;
  std::map<std::string, std::shared_ptr<const CorpusLabels>> open_;
};

}  // namespace depthgrid
