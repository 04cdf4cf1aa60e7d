#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/config/cell_config.hpp"
#include "core/data/dataset.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Logs a warning about the data of cells: every rank opens it, one reports.
void warn_of(const std::string& warning);

/// All that a dataset is made of: equal keys, one dataset.
std::string data_key(const CellConfig& config);

/// The corpora of a sweep, each opened once; cells with equal `data.*` leaves share one.
///
/// Opening pins the digest of a corpus's files in the store, and freezes the text of `self`, so
/// that every later run of the store trains on the same bytes. It also keeps in the store what
/// evaluation and generation need (dataset_card()): where the files of a corpus are missing, the
/// store's own token files are read.
class DataPool {
 public:
  /// For evaluation and generation, a corpus that has changed since the store was begun is as good
  /// as one that is missing; training refuses it.
  enum class Use : std::uint8_t { Training, Reading };

  explicit DataPool(const Store& store, Use use = Use::Training) : store_(store), use_(use) {}

  /// @throws UserError: see open_dataset() and Store::pin_corpus().
  std::shared_ptr<const Dataset> open(const CellConfig& config);

 private:
  bool changed(const Dataset& data) const;

  const Store& store_;
  Use use_;
  std::map<std::string, std::shared_ptr<const Dataset>> open_;
};

}  // namespace depthgrid
