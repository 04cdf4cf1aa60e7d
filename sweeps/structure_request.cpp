#include "sweeps/structure_request.hpp"

#include <set>

#include <nlohmann/json.hpp>

namespace depthgrid {

std::string structure_request(const std::vector<const CellPlan*>& cells, const char* flag,
                              bool value) {
  using Json = nlohmann::ordered_json;
  Json structures = Json::array();
  std::set<std::string> seen;
  for (const CellPlan* cell : cells) {
    if (!seen.insert(cell->structure).second) continue;
    structures.push_back(
        {{"structure", cell->structure}, {"config", Json::parse(cell->config.json())}});
  }
  return Json{{"schema", 1}, {flag, value}, {"structures", structures}}.dump();
}

}  // namespace depthgrid
