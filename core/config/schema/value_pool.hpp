#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/config/value.hpp"

namespace depthgrid {

/// A value and its canonical JSON.
struct PooledValue : Value {
  std::string json;
};

/// Interns values: within a pool, equal values have equal addresses, so that thousands of
/// configurations are compared and copied as arrays of pointers.
class ValuePool {
 public:
  ValuePool();
  ValuePool(const ValuePool&) = delete;
  ValuePool& operator=(const ValuePool&) = delete;

  const PooledValue* intern(Value value);
  const PooledValue* null() const { return null_; }
  /// Typed default of each leaf of the schema (null if derived).
  const std::vector<const PooledValue*>& defaults() const { return defaults_; }

 private:
  std::deque<PooledValue> values_;
  std::unordered_map<std::string, const PooledValue*> index_;  // type and JSON
  std::unordered_map<std::int64_t, const PooledValue*> integers_;
  std::vector<const PooledValue*> defaults_;
  const PooledValue* null_ = nullptr;
};

}  // namespace depthgrid
