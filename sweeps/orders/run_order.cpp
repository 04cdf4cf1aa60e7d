#include "sweeps/orders/run_order.hpp"

#include "sweeps/orders/order_json.hpp"

namespace depthgrid {

static void members(RunOrder& o, OrderVisitor& visit) {
  visit("file", o.file);
  visit("store", o.store);
  visit("set", o.set);
  visit("yes", o.yes);
  visit("progress", o.progress);
  visit("cell", o.cell);
}

std::string order_text(const RunOrder& order) {
  return order_json(order);
}

RunOrder parse_run_order(std::string_view json) {
  return order_from_json<RunOrder>(json);
}

}  // namespace depthgrid
