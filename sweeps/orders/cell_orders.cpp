#include "sweeps/orders/cell_orders.hpp"

#include "core/base/error.hpp"
#include "sweeps/orders/order_json.hpp"

namespace depthgrid {

void to_json(nlohmann::ordered_json& out, const CellChoice& from) {
  out = {{"store", from.store}, {"cell", from.cell}, {"at", from.at}};
}

void from_json(const nlohmann::ordered_json& in, CellChoice& from) {
  from = {in.at("store"), in.at("cell"), in.at("at")};
}

template <IsOrder<ExportOrder> O, typename Visit>
void members(O& o, Visit visit) {
  visit("from", o.from);
  visit("layout", o.layout);
  visit("out", o.out);
  visit("json", o.json);
}

template <IsOrder<EvalOrder> O, typename Visit>
void members(O& o, Visit visit) {
  visit("from", o.from);
  visit("data", o.data);
  visit("split", o.split);
  visit("windows", o.windows);
  visit("by_position", o.by_position);
  visit("json", o.json);
  visit("modes", o.modes);
  visit("deciders", o.deciders);
}

template <IsOrder<GenerateOrder> O, typename Visit>
void members(O& o, Visit visit) {
  visit("from", o.from);
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
