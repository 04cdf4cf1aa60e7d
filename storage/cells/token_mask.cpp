#include "storage/cells/token_mask.hpp"

#include <algorithm>
#include <cmath>

#include "storage/cells/cell_result.hpp"
#include "storage/columns/table_reader.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kTokensPerByte = 8;

/// Positions in the window: what the cell says, within the capacity of the masks.
std::size_t mask_positions(const TableReader& reader, std::size_t capacity) {
  if (!reader.has("n_position")) return capacity;
  const std::int64_t recorded = reader.read("n_position").integer(0);
  return recorded > 0 ? std::min(capacity, static_cast<std::size_t>(recorded)) : capacity;
}

}  // namespace

std::optional<TokenMask> read_token_mask(const std::filesystem::path& result, const CellId& id,
                                         std::string_view variable, std::size_t sequence,
                                         const Fs& disk) {
  return read_token_mask(open_cell_file(result, id, "", disk), variable, sequence);
}

std::optional<TokenMask> read_token_mask(const TableReader& reader, std::string_view variable,
                                         std::size_t sequence) {
  const std::string name(variable);
  for (const std::string& needed : {name, std::string("probe_step"), std::string("layer")}) {
    if (!reader.has(needed)) return std::nullopt;
  }
  const std::vector<std::int64_t> extents = reader.shape(name).extents;
  if (extents.size() != 5) return std::nullopt;  // cell, measurement, layer, sequence, byte
  const auto extent = [&extents](std::size_t i) { return static_cast<std::size_t>(extents[i]); };
  const std::size_t measurements = extent(1), layers = extent(2), sequences = extent(3),
                    bytes = extent(4);
  if (sequence >= sequences || bytes == 0) return std::nullopt;
  const VariableColumn column = reader.read(name), numbers = reader.read("layer");
  const auto byte_at = [&](std::size_t measurement, std::size_t layer, std::size_t byte) {
    return column.number(((measurement * layers + layer) * sequences + sequence) * bytes + byte);
  };
  TokenMask out;
  out.variable = name;
  out.positions = mask_positions(reader, bytes * kTokensPerByte);
  for (std::size_t measurement = measurements; measurement-- > 0 && out.layers.empty();) {
    for (std::size_t layer = 0; layer < layers; ++layer) {
      if (!std::isfinite(byte_at(measurement, layer, 0))) continue;
      out.layers.push_back(numbers.integer(layer));
      for (std::size_t p = 0; p < out.positions; ++p) {
        const double byte = byte_at(measurement, layer, p / kTokensPerByte);
        const auto bits = std::isfinite(byte) ? static_cast<unsigned>(byte) : 0U;
        out.executed.push_back(static_cast<std::uint8_t>(bits >> p % kTokensPerByte & 1U));
      }
    }
    out.step = reader.read("probe_step").integer(measurement);
  }
  if (out.layers.empty()) return std::nullopt;
  if (reader.has("probe_set_sha256")) out.set_sha256 = reader.read("probe_set_sha256").text(0);
  return out;
}

}  // namespace depthgrid
