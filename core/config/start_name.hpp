#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/cell.hpp"
#include "core/config/cell_config.hpp"

namespace depthgrid {

/// The value of `model.init.from` as written.
struct StartName {
  enum class Kind : std::uint8_t {
    Drawn,  // null: nothing
    Arm,    // "arm:TAG": the cell of that include row with the same seed
    Cell,   // "cell:REF": a cell of the sweep by id or alias, or a prefix of either
    Files   // a path
  } kind = Kind::Drawn;
  std::string name;  // without "arm:" and "cell:"

  bool is_cell() const { return kind == Kind::Arm || kind == Kind::Cell; }
};

StartName start_name(const Value& value);

/// The cell that a cell of an expanded sweep starts from; nothing if its weights are drawn or read
/// from files.
std::optional<CellId> start_cell(const CellConfig& config);

/// Number of cells before it in a chain of starts; 0 if it starts from none.
std::int64_t start_depth(const CellConfig& config);

/// "cell:<id>", "file:<SHA-256 of the files>", or "" for drawn weights.
std::string start_identity(const CellConfig& config);

}  // namespace depthgrid
