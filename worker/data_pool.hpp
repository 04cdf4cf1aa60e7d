#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/config/cell_config.hpp"
#include "core/data/dataset.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The corpora of a sweep, each opened once; cells with equal `data.*` leaves share one.
///
/// Opening pins the digest of a corpus's files in the store, and freezes the text of `self`, so
/// that every later run of the store trains on the same bytes. It also keeps in the store what
/// evaluation and generation need (dataset_card()): where the files of a corpus are missing, the
/// store's own token files are read.
class DataPool {
 public:
  explicit DataPool(const Store& store) : store_(store) {}

  /// @throws UserError: see open_dataset() and Store::pin_corpus().
  std::shared_ptr<const Dataset> open(const CellConfig& config);

 private:
  const Store& store_;
  std::map<std::string, std::shared_ptr<const Dataset>> open_;
};

}  // namespace depthgrid
