#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

/// Files meant by a path: the file itself, or a folder's config.json (if any) and
/// model.safetensors, in this order.
/// @throws StorageError (NoInput) if there is none; UserError (BadData) for a kind of file that is
///         never read (pickles).
std::vector<std::filesystem::path> start_files(const std::filesystem::path& path);

/// SHA-256 over the digests of files (one file: its own), 64 hexadecimal digits.
std::string files_digest(const std::vector<std::filesystem::path>& files);
/// The same of their digests.
std::string joined_digest(const std::vector<std::string>& digests);

}  // namespace depthgrid
