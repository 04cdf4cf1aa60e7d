#include "sweeps/orders/structure_request.hpp"

#include <set>

#include <nlohmann/json.hpp>

namespace depthgrid {

std::string structure_request(const std::vector<const CellPlan*>& cells,
                              const std::vector<std::pair<const char*, bool>>& flags) {
  using Json = nlohmann::ordered_json;
  Json structures = Json::array();
  std::set<std::string> seen;
  for (const CellPlan* cell : cells) {
    if (!seen.insert(cell->structure).second) continue;
    structures.push_back(
        {{"structure", cell->structure}, {"config", Json::parse(cell->config.json())}});
  }
  Json request = {{"schema", 1}};
  for (const auto& [flag, value] : flags) request[flag] = value;
  request["structures"] = std::move(structures);
  return request.dump();
}

}  // namespace depthgrid
