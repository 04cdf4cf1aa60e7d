#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/kept_tokens.hpp"

namespace depthgrid {

/// The cards that a store has of these tokens, by data_card_name(). Until format 2.0 their names
/// were also of where the files are and how windows are drawn: cards under such names are found by
/// the store's plans.
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
