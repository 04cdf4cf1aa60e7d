#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace depthgrid {

// The protocol between the two programs: `depthgrid-worker VERB` is given one JSON object with
// "schema": 1, and answers by its exit code and on stdout. Orders of a few options come as one
// argument; requests about structures and models, which may be long, come by stdin.
//
// An order is a struct beside which stands one list of its members, by which it is written and
// read:
//   template <IsOrder<RunOrder> O, typename Visit> void members(O& order, Visit visit) {
//     visit("file", order.file);
//   }
// For the .cpp of orders only: what includes their headers need not know of nlohmann/json.

/// `Order`, for writing or for reading.
template <typename O, typename Order>
concept IsOrder = std::same_as<std::remove_const_t<O>, Order>;

/// @throws nlohmann::json::type_error for text that is not UTF-8.
template <typename Order>
std::string order_json(const Order& order) {
  nlohmann::ordered_json out = {{"schema", 1}};
  members(order, [&](const char* name, const auto& value) { out[name] = value; });
  return out.dump();
}

/// @throws Error naming what is wrong with the order.
template <typename Order>
Order order_from_json(std::string_view text) {
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    if (json.at("schema") != 1) {
      throw Error("order: unknown schema; are both programs of one build?");
    }
    Order out;
    members(out, [&](const char* name, auto& value) { json.at(name).get_to(value); });
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("order: ") + e.what());
  }
}

}  // namespace depthgrid
