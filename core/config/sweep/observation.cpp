#include "core/config/sweep/observation.hpp"

#include <algorithm>

#include "core/config/schema.hpp"
#include "core/config/sweep/leaf_reader.hpp"
#include "core/config/sweep/overrides.hpp"

namespace depthgrid {

CellConfig with_observations(const CellConfig& config, const std::vector<std::string>& settings) {
  if (settings.empty()) return config;
  Diagnostics diagnostics;
  ValuePool pool;
  LeafReader leaves(pool, diagnostics);
  const Value read = value_from_json(config.json());
  ValueMap all = *read.get_if<ValueMap>();
  for (const std::string& text : settings) {
    const Place place{diagnostics.add_text(kOverrideName, text), 1, 1};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      diagnostics.error(place, "expected key=value");
      continue;
    }
    const std::string path = text.substr(0, equals);
    const std::size_t leaf = find_leaf(path);
    if (leaf == schema().size()) {
      leaves.unknown(path, place);
    } else if (schema()[leaf].leaf_class != LeafClass::Observation) {
      diagnostics.error(place, "`" + path +
                                   "` belongs to the training, which has been made: only "
                                   "leaves `probes.*` can be set here");
    } else if (const auto node =
                   read_yaml_fragment(diagnostics, {place.file, 1, static_cast<int>(equals) + 2},
                                      text.substr(equals + 1))) {
      const PooledValue* value = leaves.value(leaf, *node);
      const auto old = std::ranges::find(all, path, &ValueMap::value_type::first);
      if (value != nullptr) old->second = *value;
    }
  }
  diagnostics.throw_if_failed();
  return config_from_json(canonical_json(Value(std::move(all))));
}

}  // namespace depthgrid
