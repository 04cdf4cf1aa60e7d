#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/picture/chart_text.hpp"

namespace depthgrid {

/// Which tokens of a sequence each of m layers executes.
struct TokenMapData {
  std::vector<std::string> layers = {};     // (m) names, from top to bottom
  std::size_t positions = 0;                // T
  std::vector<std::uint8_t> executed = {};  // (m, T) 1: executed, 0: skipped
  std::vector<std::string> tokens = {};     // (T) their texts, or empty: positions alone
};

/// The sequence as running text, a column for each token and below it a row for each layer: a block
/// where the layer executes the token, a thin line where it skips it. Above every tenth position
/// stands its number (from 0), where there is space; each token says in its tooltip which layers
/// execute it. White space among the tokens is shown as "␣". Without a layer or a position: "no
/// data".
/// @throws Error if the sizes do not agree.
std::string token_map(const TokenMapData& data, const ChartText& text);

}  // namespace depthgrid
