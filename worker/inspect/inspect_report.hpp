#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// A JSON object under construction, the answer of `check`; members keep their order.
///
/// Tensors become nested lists: booleans 0 and 1, numbers with all their digits (float32 widened),
/// null where one is not finite. An undefined tensor is null.
class CheckReport {
 public:
  using Object = std::shared_ptr<const CheckReport>;
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string, at::Tensor,
                             Object, std::vector<CheckReport>, std::vector<std::string>>;

  template <typename T>
  CheckReport& add(const std::string& name, T&& value) {
    members_.emplace_back(name, Value(std::forward<T>(value)));
    return *this;
  }
  CheckReport& add_object(const std::string& name, CheckReport object) {
    return add(name, std::make_shared<const CheckReport>(std::move(object)));
  }

  /// The object as one line of JSON.
  std::string json() const;

  const std::vector<std::pair<std::string, Value>>& members() const noexcept { return members_; }

 private:
  std::vector<std::pair<std::string, Value>> members_;
};

}  // namespace depthgrid
