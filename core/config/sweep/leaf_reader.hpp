#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/config/schema/leaf_value.hpp"
#include "core/config/schema/value_pool.hpp"
#include "core/config/sweep/sweep_document.hpp"

namespace depthgrid {

/// Reads leaves and their levels from nodes. Problems are reported, never thrown.
class LeafReader {
 public:
  LeafReader(ValuePool& pool, Diagnostics& diagnostics) : pool_(pool), diagnostics_(diagnostics) {}

  using Visit = std::function<void(std::size_t leaf, Place key, const YamlNode& value)>;

  /// Calls `visit` for each leaf of a nested or dotted key, and reports unknown ones.
  void walk(const std::string& path, Place key, const YamlNode& value, const Visit& visit);
  /// The same for all entries of a map; `skip` is a key that the caller reads.
  void walk_map(const YamlNode& map, std::string_view skip, const Visit& visit);

  const PooledValue* value(std::size_t leaf, const YamlNode& node);
  /// A factor's levels: a list, a scalar, or {values}, {value}, {linspace}, {logspace}.
  std::optional<Column> column(std::size_t leaf, Place key, const YamlNode& node);
  /// A value, or a list of which one must be equal.
  std::optional<LeafCondition> condition(std::size_t leaf, Place key, const YamlNode& node);

  /// True if the leaf may differ between cells; reports if not.
  bool may_vary(std::size_t leaf, Place place);

  /// True for a leaf's section ("model.time").
  static bool is_section(std::string_view path);
  /// Leaves of a section, those directly in it first, and a few at most: "model.dropout.attention,
  /// model.dropout.mlp".
  static std::string leaves_of(std::string_view section);
  /// @param holds_leaves  the key's value is a map: it may be a section.
  void unknown(const std::string& path, Place place, bool holds_leaves = false);

 private:
  void add_level(Column& column, const YamlNode& node);
  void add_levels(Column& column, const YamlNode& list);
  void add_range(Column& column, const YamlNode& node, bool logarithmic);

  ValuePool& pool_;
  Diagnostics& diagnostics_;
};

/// The leaf that a name of other tools or older files means, in full or by its last part ("h_mod");
/// empty if it is no such name.
std::string_view leaf_of_other_name(std::string_view name);

/// Top-level keys of a sweep file that are not leaves.
const std::vector<std::string>& sweep_keys();

}  // namespace depthgrid
