#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

// The protocol between the two programs: `depthgrid-worker VERB` receives one JSON object with
// "schema": 1, and answers by its exit code and on stdout. Orders with few options are passed as an
// argument; requests about structures and models, which may be long, on stdin.

/// Visits the members of an order, one after another, and writes or reads them.
class OrderVisitor {
 public:
  using Members = std::function<void(OrderVisitor&)>;

  virtual ~OrderVisitor() = default;
  virtual void operator()(const char* name, bool& value) = 0;
  virtual void operator()(const char* name, std::int64_t& value) = 0;
  virtual void operator()(const char* name, double& value) = 0;
  virtual void operator()(const char* name, std::string& value) = 0;
  virtual void operator()(const char* name, std::vector<double>& value) = 0;
  virtual void operator()(const char* name, std::vector<std::string>& value) = 0;
  /// An object inside the order.
  virtual void object(const char* name, const Members& inner) = 0;
};

/// @throws nlohmann::json::type_error for text that is not UTF-8.
std::string write_order(const OrderVisitor::Members& members);

/// @throws Error naming what is wrong with the order.
void read_order(std::string_view text, const OrderVisitor::Members& members);

// Both use the single list of members that each order defines:
//   void members(RunOrder& order, OrderVisitor& visit) { visit("file", order.file); … }

template <typename Order>
std::string order_json(Order order) {
  return write_order([&](OrderVisitor& visit) { members(order, visit); });
}

template <typename Order>
Order order_from_json(std::string_view text) {
  Order out;
  read_order(text, [&](OrderVisitor& visit) { members(out, visit); });
  return out;
}

}  // namespace depthgrid
