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

/// All leaves of one cell, resolved and typed, with derived defaults filled in.
///
/// Cells of one sweep share a base; copies are cheap. References stay valid as long as any copy of
/// the configuration lives. Unknown paths and wrong types are bugs and throw Error.
class CellConfig {
 public:
  /// All leaves at their defaults.
  CellConfig();

  const Value& at(std::string_view path) const;
  bool null(std::string_view path) const { return at(path).is_null(); }
  bool flag(std::string_view path) const;
  std::int64_t integer(std::string_view path) const;
  /// Nothing if the leaf is null.
  std::optional<std::int64_t> integer_if(std::string_view path) const;
  /// Integers convert. Words such as `none` (train.clip) throw: check is_word() first.
  double real(std::string_view path) const;
  const std::string& word(std::string_view path) const;
  bool is_word(std::string_view path) const;
  std::vector<std::string> words(std::string_view path) const;
  /// Of a leaf that is null, one word, or a list of them: none, one, or all.
  std::vector<std::string> names(std::string_view path) const;

  /// Leaves that differ from the schema's (derived) default, as hashed by the id. Seeds are
  /// resolved (model.seed, data.seed); `data.corpus: file` is "file:<SHA-256 of the bytes>".
  ValueMap changed() const;
  /// Canonical JSON of all resolved leaves; config_from_json() reads it back.
  std::string json() const;

  /// For the resolver: the slots that differ from the base (slot, value in the base's pool).
  using Delta = std::vector<std::pair<std::uint16_t, const PooledValue*>>;
  CellConfig(std::shared_ptr<const ConfigBase> base, Delta delta);
  const PooledValue& slot(std::size_t index) const;
  /// Values by slot, for conditions. Refers to this configuration.
  auto lookup() const {
    return [this](std::size_t index) -> const PooledValue& { return slot(index); };
  }
  /// Values by path, for facts of a cell (core/config/facts). Refers to this configuration.
  auto by_path() const {
    return [this](std::string_view path) -> const Value& { return at(path); };
  }

 private:
  std::shared_ptr<const ConfigBase> base_;
  Delta delta_;
};

/// A configuration from dotted leaves, resolved and checked like a cell of a sweep; for tests and
/// tools. @throws UserError (Usage) naming every problem.
CellConfig make_config(const ValueMap& leaves);

/// Inverse of CellConfig::json(). Missing leaves get their defaults; values are typed, but rules
/// between leaves are not checked again. @throws UserError (BadData).
CellConfig config_from_json(std::string_view json);

}  // namespace depthgrid
