#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// What `depthgrid run` asks of the worker; passed as one JSON argument.
struct RunOrder {
  std::string file;   // sweep file
  std::string store;  // its directory
  std::vector<std::string> set;
  bool yes = false;
  std::string progress = "auto";  // auto, plain, quiet or json
  std::string cell{};             // id of the only cell to train; empty = all
};

std::string order_text(const RunOrder& order);

/// @throws Error if the text is not such an order.
RunOrder parse_run_order(std::string_view json);

}  // namespace depthgrid
