#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/value.hpp"

namespace depthgrid {

struct ConfigBase;
struct PooledValue;

/// Every leaf of one cell, resolved and typed, with derived defaults filled in.
///
/// Cells of one sweep share a base; a copy costs a few words. References stay valid as long as any
/// copy of the configuration lives. Unknown paths are bugs and throw Error; so do wrong types.
class CellConfig {
 public:
  /// All leaves at their defaults.
  CellConfig();

  const Value& at(std::string_view path) const;
  bool null(std::string_view path) const { return at(path).is_null(); }
  bool flag(std::string_view path) const;
  std::int64_t integer(std::string_view path) const;
  /// Nothing where the leaf is null.
  std::optional<std::int64_t> integer_if(std::string_view path) const;
  /// Integers convert. `none` (of train.clip) and other words throw: ask is_word() first.
  double real(std::string_view path) const;
  const std::string& word(std::string_view path) const;
  bool is_word(std::string_view path) const;
  std::vector<std::string> words(std::string_view path) const;

  /// Leaves that differ from the schema's (derived) default: what the id hashes. The seeds are
  /// there resolved (model.seed, data.seed); `data.corpus: file` is "file:<SHA-256 of the bytes>".
  ValueMap changed() const;
  /// Canonical JSON of all resolved leaves; config_from_json() reads it back.
  std::string json() const;

  /// For the resolver: base and the slots that differ from it (slot, value inside the base's pool).
  using Delta = std::vector<std::pair<std::uint16_t, const PooledValue*>>;
  CellConfig(std::shared_ptr<const ConfigBase> base, Delta delta);
  const PooledValue& slot(std::size_t index) const;

 private:
  std::shared_ptr<const ConfigBase> base_;
  Delta delta_;
};

/// A configuration from dotted leaves, resolved and checked as a cell of a sweep would be.
/// Meant for tests and tools. @throws UserError (Usage) naming every problem.
CellConfig make_config(const ValueMap& leaves);

/// What CellConfig::json() wrote. Leaves that the text lacks get their defaults; values are typed,
/// but not checked against each other again. @throws UserError (BadData).
CellConfig config_from_json(std::string_view json);

}  // namespace depthgrid
