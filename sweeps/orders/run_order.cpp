#include "sweeps/orders/run_order.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// @throws Error naming what is wrong with the order.
template <typename Read>
auto parsed_run(std::string_view text, const Read& read) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != 1)
      throw Error("order: unknown schema; are both programs of one build?");
    return read(json);
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("order: ") + e.what());
  }
}

}  // namespace

std::string order_text(const RunOrder& order) {
  return Json{{"schema", 1},       {"file", order.file}, {"store", order.store},
              {"set", order.set},  {"yes", order.yes},   {"progress", order.progress},
              {"cell", order.cell}}
      .dump();
}

std::string order_text(const BenchOrder& order) {
  return Json{{"schema", 1},
              {"what", order.what},
              {"family", order.family},
              {"cells", order.cells},
              {"parameters", order.parameters},
              {"steps", order.steps},
              {"dump", order.dump},
              {"set", order.set},
              {"json", order.json}}
      .dump();
}

RunOrder parse_run_order(std::string_view json) {
  return parsed_run(json, [](const Json& j) {
    return RunOrder{j.at("file"), j.at("store"),    j.at("set"),
                    j.at("yes"),  j.at("progress"), j.at("cell")};
  });
}

BenchOrder parse_bench_order(std::string_view json) {
  return parsed_run(json, [](const Json& j) {
    return BenchOrder{j.at("what"),  j.at("family"), j.at("cells"), j.at("parameters"),
                      j.at("steps"), j.at("dump"),   j.at("set"),   j.at("json")};
  });
}

}  // namespace depthgrid
