#pragma once

#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// Cells that share a structure, (E).
using CellConfigs = std::vector<const CellConfig*>;

/// The real leaf `path` of each cell, (E).
inline std::vector<double> reals(const CellConfigs& cells, std::string_view path) {
  std::vector<double> out;
  for (const CellConfig* cell : cells) out.push_back(cell->real(path));
  return out;
}

/// The numbers of a list; none if it is null.
inline std::vector<double> numbers(const Value& list) {
  std::vector<double> out;
  if (const auto* all = list.get_if<ValueList>()) {
    for (const Value& one : *all) out.push_back(one.number());
  }
  return out;
}

/// The flag `path` of each cell, (E).
inline std::vector<bool> flags(const CellConfigs& cells, std::string_view path) {
  std::vector<bool> out;
  for (const CellConfig* cell : cells) out.push_back(cell->flag(path));
  return out;
}

}  // namespace depthgrid
