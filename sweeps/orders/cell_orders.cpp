#include "sweeps/orders/cell_orders.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

Json cell_json(const CellChoice& from) {
  return {{"store", from.store}, {"cell", from.cell}, {"at", from.at}};
}

CellChoice cell_of(const Json& j) {
  return {j.at("store"), j.at("cell"), j.at("at")};
}

template <typename Read>
auto parsed(std::string_view text, const Read& read) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != 1) {
      throw Error("order: unknown schema; are both programs of one build?");
    }
    return read(json);
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("order: ") + e.what());
  }
}

}  // namespace

std::string order_text(const ExportOrder& o) {
  return Json{{"schema", 1},
              {"from", cell_json(o.from)},
              {"layout", o.layout},
              {"out", o.out},
              {"json", o.json}}
      .dump();
}

std::string order_text(const EvalOrder& o) {
  return Json{{"schema", 1},      {"from", cell_json(o.from)}, {"data", o.data},
              {"split", o.split}, {"windows", o.windows},      {"by_position", o.by_position},
              {"json", o.json},   {"modes", o.modes},          {"deciders", o.deciders}}
      .dump();
}

std::string order_text(const GenerateOrder& o) {
  const Json json = {{"schema", 1},
                     {"from", cell_json(o.from)},
                     {"prompt", o.prompt},
                     {"tokens", o.tokens},
                     {"temperature", o.temperature},
                     {"top_k", o.top_k},
                     {"top_p", o.top_p},
                     {"seed", o.seed},
                     {"control", o.control},
                     {"json", o.json}};
  try {
    return json.dump();
  } catch (const nlohmann::json::type_error&) {
    throw UserError(ExitCode::BadData, "--prompt is not UTF-8");
  }
}

ExportOrder parse_export_order(std::string_view json) {
  return parsed(json, [](const Json& j) {
    return ExportOrder{cell_of(j.at("from")), j.at("layout"), j.at("out"), j.at("json")};
  });
}

EvalOrder parse_eval_order(std::string_view json) {
  return parsed(json, [](const Json& j) {
    return EvalOrder{cell_of(j.at("from")), j.at("data"), j.at("split"), j.at("windows"),
                     j.at("by_position"),   j.at("json"), j.at("modes"), j.at("deciders")};
  });
}

GenerateOrder parse_generate_order(std::string_view json) {
  return parsed(json, [](const Json& j) {
    return GenerateOrder{cell_of(j.at("from")), j.at("prompt"),  j.at("tokens"),
                         j.at("temperature"),   j.at("top_k"),   j.at("top_p"),
                         j.at("seed"),          j.at("control"), j.at("json")};
  });
}

}  // namespace depthgrid
