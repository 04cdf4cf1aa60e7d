#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/schema/value_pool.hpp"

namespace depthgrid {

/// A condition on leaves, in the notation of the schema columns `read_when` and `fused_when`.
class SchemaCondition {
 public:
  using ValueOf = std::function<const PooledValue&(std::size_t leaf)>;

  struct Term {
    std::vector<std::size_t> leaves;  // any of them has ...
    std::vector<std::string> words;   // ... any of these values; "x*" is a prefix
    bool negated = false;

    bool holds(const ValueOf& value_of) const;
  };
  using Conjunction = std::vector<Term>;

  /// @param text  empty: always true. @throws Error for an unknown path (a bug of the schema).
  explicit SchemaCondition(std::string_view text);

  bool holds(const ValueOf& value_of) const;
  const std::vector<Conjunction>& alternatives() const { return alternatives_; }

 private:
  std::vector<Conjunction> alternatives_;
};

/// Parts of a text between separators.
std::vector<std::string_view> split(std::string_view text, std::string_view separator);

}  // namespace depthgrid
