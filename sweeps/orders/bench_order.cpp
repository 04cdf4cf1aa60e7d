#include "sweeps/orders/bench_order.hpp"

#include "sweeps/orders/order_json.hpp"

namespace depthgrid {

static void members(BenchOrder& o, OrderVisitor& visit) {
  visit("what", o.what);
  visit("family", o.family);
  visit("cells", o.cells);
  visit("parameters", o.parameters);
  visit("steps", o.steps);
  visit("dump", o.dump);
  visit("set", o.set);
  visit("json", o.json);
}

std::string order_text(const BenchOrder& order) {
  return order_json(order);
}

BenchOrder parse_bench_order(std::string_view json) {
  return order_from_json<BenchOrder>(json);
}

}  // namespace depthgrid
