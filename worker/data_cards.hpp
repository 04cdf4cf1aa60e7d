#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Name in the store's folder of texts under which it keeps what it knows of a cell's tokens
/// (dataset_card()): of the leaves that decide them, and of the contents of the user's files. Where
/// files are, and how windows are drawn from the tokens, is no part of it: so that a store finds
/// out that tokens have changed, whatever else has.
std::string data_card_name(const CellConfig& config);

/// The cards that a store has of these tokens. Until format 2.0 their names were also of where the
/// files are and how windows are drawn: cards under such names are found by the store's plans.
std::vector<std::string> data_cards(const Store& store, const CellConfig& config);

/// Tokens of the same corpus that a store keeps for other leaves of `data`: a cell that was planned
/// with them, and their card.
struct OtherCard {
  CellConfig config;
  std::string card;
};
/// One for each name of a card other than that of `config`, found by the store's plans.
std::vector<OtherCard> other_data_cards(const Store& store, const CellConfig& config);

}  // namespace depthgrid
