#include "sweeps/protocol/audited_cells.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/schema.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostCells = 6;

bool audited(const Leaf& leaf) {
  const bool differs =
      leaf.leaf_class == LeafClass::PerCell || leaf.leaf_class == LeafClass::PerCellUnion;
  return differs && leaf.path.starts_with("model.") && leaf.path != "model.seed" &&
         leaf.path != "model.init.from";
}

/// Different values of a leaf, each with its first cell, ascending where they are numbers.
std::vector<std::pair<Value, const CellPlan*>> values_of(const std::vector<const CellPlan*>& cells,
                                                         std::string_view path) {
  std::vector<std::pair<Value, const CellPlan*>> out;
  for (const CellPlan* cell : cells) {
    const Value& value = cell->config.at(path);
    const auto same = [&](const auto& seen) { return seen.first == value; };
    if (std::ranges::none_of(out, same)) out.emplace_back(value, cell);
  }
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    const bool numbers = a.first.is_number() && b.first.is_number();
    return numbers ? a.first.number() < b.first.number() : false;
  });
  return out;
}

}  // namespace

std::vector<const CellPlan*> audited_cells(const std::vector<CellPlan>& cells,
                                           const CellPlan& first) {
  std::vector<const CellPlan*> members, out = {&first};
  for (const CellPlan& cell : cells) {
    if (cell.structure == first.structure) members.push_back(&cell);
  }
  for (const Leaf& leaf : schema()) {
    if (!audited(leaf)) continue;
    const auto values = values_of(members, leaf.path);
    if (values.size() < 2) continue;
    for (const std::size_t i : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
      const auto has = [&](const CellPlan* cell) {
        return cell->config.at(leaf.path) == values[i].first;
      };
      if (out.size() < kMostCells && std::ranges::none_of(out, has))
        out.push_back(values[i].second);
    }
  }
  return out;
}

std::string audit_request(const std::vector<CellPlan>& cells, bool fresh) {
  using Json = nlohmann::ordered_json;
  Json structures = Json::array();
  for (const CellPlan* first : first_of_each_structure(cells)) {
    Json others = Json::array();
    for (const CellPlan* cell : audited_cells(cells, *first)) {
      if (cell != first) others.push_back(parse_ordered_json(cell->config.json()));
    }
    structures.push_back({{"structure", first->structure},
                          {"config", parse_ordered_json(first->config.json())},
                          {"others", std::move(others)}});
  }
  return json_text(Json{{"schema", 1}, {"fresh", fresh}, {"structures", std::move(structures)}});
}

}  // namespace depthgrid
