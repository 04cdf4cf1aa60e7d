#pragma once

#include <map>
#include <string>

#include "core/config/cell_config.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Name in the store's folder of texts under which it keeps what it knows of a cell's tokens
/// (dataset_card()): of the leaves that decide them, and of the contents of the user's files. Where
/// files are, and how windows are drawn from the tokens, is no part of it: so that a store finds
/// out that tokens have changed, whatever else has.
std::string data_card_name(const CellConfig& config);
/// The same of the text of these leaves.
std::string data_card_of_key(const std::string& key);

/// Lengths of splits, as the cards of a store have them: without the text. It keeps what it has
/// read.
class KeptTokens {
 public:
  /// @param store  outlives it.
  explicit KeptTokens(const Store& store) : store_(&store) {}

  /// Tokens of a split of the cell's text. 0 where the store has no card of it yet, and of a split
  /// that the card leaves out, as those of synthetic sources.
  double operator()(const CellConfig& config, const std::string& split);

 private:
  const Store* store_;
  std::map<std::string, std::map<std::string, double>> cards_;  // by name, then by split
};

}  // namespace depthgrid
