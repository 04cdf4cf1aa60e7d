#include "sweeps/orders/cell_orders.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "sweeps/orders/order_json.hpp"

namespace depthgrid {

static void from(CellChoice& cell, OrderVisitor& visit) {
  visit.object("from", [&](OrderVisitor& inner) {
    inner("store", cell.store);
    inner("cell", cell.cell);
    inner("at", cell.at);
  });
}

static void members(ExportOrder& o, OrderVisitor& visit) {
  from(o.from, visit);
  visit("layout", o.layout);
  visit("out", o.out);
  visit("json", o.json);
}

static void members(EvalOrder& o, OrderVisitor& visit) {
  from(o.from, visit);
  visit("data", o.data);
  visit("split", o.split);
  visit("windows", o.windows);
  visit("by_position", o.by_position);
  visit("json", o.json);
  visit("modes", o.modes);
  visit("deciders", o.deciders);
}

static void members(GenerateOrder& o, OrderVisitor& visit) {
  from(o.from, visit);
  visit("prompt", o.prompt);
  visit("tokens", o.tokens);
  visit("temperature", o.temperature);
  visit("top_k", o.top_k);
  visit("top_p", o.top_p);
  visit("seed", o.seed);
  visit("control", o.control);
  visit("json", o.json);
}

std::string order_text(const ExportOrder& order) {
  return order_json(order);
}

std::string order_text(const EvalOrder& order) {
  return order_json(order);
}

std::string order_text(const GenerateOrder& order) {
  try {
    return order_json(order);
  } catch (const nlohmann::json::type_error&) {
    throw UserError(ExitCode::BadData, "--prompt is not UTF-8");
  }
}

ExportOrder parse_export_order(std::string_view json) {
  return order_from_json<ExportOrder>(json);
}

EvalOrder parse_eval_order(std::string_view json) {
  return order_from_json<EvalOrder>(json);
}

GenerateOrder parse_generate_order(std::string_view json) {
  return order_from_json<GenerateOrder>(json);
}

}  // namespace depthgrid
