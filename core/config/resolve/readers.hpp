#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/resolve/slots.hpp"

namespace depthgrid {

/// Answers whether a cell reads a leaf, from the `read_when` column of the schema.
class Readers {
 public:
  Readers();

  bool reads(std::size_t leaf, const Slots& slots) const;

  /// False if a leaf of the condition has no trusted value.
  bool certain(std::size_t leaf, const Diagnostics& diagnostics) const;

  /// "`model.rope_base` is read with `model.positions: rope`; here `model.positions` is `learned`:
  /// remove it, or put it under `when:` (nearest leaf that is read: `model.positions`)".
  std::string explain(std::size_t leaf, const Slots& slots) const;

 private:
  struct Term {
    std::vector<std::size_t> leaves;  // any of them has ...
    std::vector<std::string> words;   // ... any of these values; "x*" is a prefix
    bool negated = false;
  };
  using Conjunction = std::vector<Term>;

  static Term parse_term(std::string_view text);
  static bool holds(const Term& term, const Slots& slots);

  std::vector<std::vector<Conjunction>> conditions_;  // by leaf; empty: always read
};

}  // namespace depthgrid
