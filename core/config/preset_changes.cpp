#include "core/config/preset_changes.hpp"

#include "core/config/resolve/presets.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

std::vector<PresetChange> preset_changes(const CellConfig& config) {
  std::vector<PresetChange> changes;
  if (config.null("model.preset")) return changes;
  const std::string& name = config.word("model.preset");
  const CellConfig pure = make_config({{"model.preset", Value(name)}});
  ValuePool pool;
  for (const PresetLeaf& row : preset_leaves(name, pool)) {
    const std::string_view leaf = schema()[row.leaf].path;
    if (pure.at(leaf) == config.at(leaf)) continue;
    changes.push_back(
        {std::string(leaf), canonical_json(pure.at(leaf)), canonical_json(config.at(leaf))});
  }
  return changes;
}

}  // namespace depthgrid
