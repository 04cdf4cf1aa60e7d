#include "core/config/sweep/overrides.hpp"

#include <algorithm>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// One parsed override.
struct Setting {
  std::string key;
  Place place;
  std::vector<YamlNode> values;
};

class Overrider {
 public:
  Overrider(SweepReader& reader, SweepDocument& document, ValuePool& pool, Diagnostics& diagnostics)
      : reader_(reader),
        document_(document),
        leaves_(pool, diagnostics),
        diagnostics_(diagnostics) {}

  void apply(const Setting& setting) {
    const std::size_t leaf = find_leaf(setting.key);
    if (setting.key == "seed") {
      set_sweep_key({"seeds", setting.place, setting.values}, true);
      if (document_.seeds.size() == 1) {
        note_one_seed(document_.seeds.front(), "=", setting.place, diagnostics_);
      }
    } else if (leaf != schema().size()) {
      set_leaf(setting, leaf);
    } else if (setting.key == "metric.name" || setting.key == "metric.goal") {
      set_metric(setting);
    } else if (const auto& keys = sweep_keys();
               std::find(keys.begin(), keys.end(), setting.key) != keys.end()) {
      set_sweep_key(setting,
                    setting.key == "tags" || (setting.key == "seeds" && setting.values.size() > 1));
    } else if (LeafReader::is_section(setting.key)) {
      diagnostics_.error(setting.place, "`" + setting.key +
                                            "` is a group of leaves: write the "
                                            "whole path of one: " +
                                            LeafReader::leaves_of(setting.key));
    } else {
      leaves_.unknown(setting.key, setting.place);
    }
  }

 private:
  void set_sweep_key(const Setting& setting, bool as_list) {
    for (const std::string_view key : {"base", "parameters", "zip", "when", "exclude", "include",
                                       "baseline", "match", "overrides"}) {
      if (setting.key == key) {
        diagnostics_.error(setting.place, "`" + setting.key +
                                              "` is set in the file only; a factor "
                                              "is set by its leaf: leaf=a,b");
        return;
      }
    }
    YamlNode value = setting.values.front();
    if (as_list && value.kind == YamlNode::Kind::Scalar) {
      value = {.kind = YamlNode::Kind::List, .place = setting.place, .items = setting.values};
    } else if (setting.values.size() > 1) {
      diagnostics_.error(setting.place, "`" + setting.key + "` takes one value");
      return;
    }
    if (setting.key == "seeds") document_.fixed.erase(leaf_index("seed"));
    reader_.read_key(document_, setting.key, setting.place, value);
  }

  void set_metric(const Setting& setting) {
    if (setting.values.size() > 1) {
      diagnostics_.error(setting.place, "`" + setting.key + "` takes one value");
      return;
    }
    const std::string key = setting.key.substr(setting.key.find('.') + 1);
    reader_.read_key(document_, "metric", setting.place,
                     {.kind = YamlNode::Kind::Map,
                      .place = setting.place,
                      .entries = {{key, setting.place, setting.values.front()}}});
  }

  void set_leaf(const Setting& setting, std::size_t leaf) {
    std::optional<Column> levels = levels_of(setting, leaf);
    if (!levels) return;
    Column& column = *levels;
    note_rows(setting, leaf);
    if (replace_conditional(column)) return;
    document_.overrides.insert(leaf);
    if (column.size() == 1 && !column.range) {
      drop_factor(leaf);
      document_.fixed[leaf] = {leaf, column.values.front(), setting.place};
      return;
    }
    document_.fixed.erase(leaf);
    replace_factor(std::move(column));
  }

  /// Levels as in a file: {logspace: [a, b, n]} and its like, or a list for a leaf that holds none.
  static bool as_in_a_file(const YamlNode& node, std::size_t leaf) {
    if (node.kind == YamlNode::Kind::List) {
      constexpr ValueKind kLists[] = {ValueKind::WordList,   ValueKind::TextList,
                                      ValueKind::StepList,   ValueKind::LayerList,
                                      ValueKind::LayerRange, ValueKind::RealList};
      return std::ranges::find(kLists, schema()[leaf].kind) == std::end(kLists);
    }
    if (node.kind != YamlNode::Kind::Map || node.entries.size() != 1) return false;
    constexpr std::string_view kForms[] = {"values", "value", "linspace", "logspace"};
    return std::ranges::find(kForms, node.entries.front().key) != std::end(kForms);
  }

  std::optional<Column> levels_of(const Setting& setting, std::size_t leaf) {
    if (setting.values.size() == 1 && as_in_a_file(setting.values.front(), leaf)) {
      return leaves_.column(leaf, setting.place, setting.values.front());
    }
    Column column;
    column.leaf = leaf;
    column.place = setting.place;
    if (setting.values.size() > 1 && !leaves_.may_vary(leaf, setting.place)) return std::nullopt;
    for (const YamlNode& node : setting.values) {
      const PooledValue* value = leaves_.value(leaf, node);
      if (value == nullptr) return std::nullopt;
      column.values.push_back(value);
      column.places.push_back(node.place);
    }
    return column;
  }

  void note_rows(const Setting& setting, std::size_t leaf) {
    for (const IncludeRow& row : document_.include) {
      for (const WrittenLeaf& one : row.leaves) {
        if (one.leaf == leaf) {
          diagnostics_.note(one.place, "this include row keeps its own `" + setting.key + "`");
        }
      }
    }
  }

  bool replace_conditional(const Column& column) {
    bool found = false;
    for (WhenBlock& block : document_.when) {
      for (Factor& factor : block.factors) {
        if (factor.columns.front().leaf != column.leaf) continue;
        factor.columns.front() = column;
        found = true;
      }
    }
    return found;
  }

  void drop_factor(std::size_t leaf) {
    for (Factor& factor : document_.factors) {
      std::erase_if(factor.columns, [&](const Column& column) { return column.leaf == leaf; });
    }
    std::erase_if(document_.factors, [](const Factor& factor) { return factor.columns.empty(); });
    forget_baseline(leaf, {});
  }

  void replace_factor(Column column) {
    forget_baseline(column.leaf, column.values);
    for (Factor& factor : document_.factors) {
      for (Column& old : factor.columns) {
        if (old.leaf != column.leaf) continue;
        if (factor.columns.size() > 1 && old.size() != column.size()) {
          diagnostics_.error(column.place, "this column of `zip` has " +
                                               std::to_string(old.size()) + " levels, here are " +
                                               std::to_string(column.size()));
          return;
        }
        old = std::move(column);
        return;
      }
    }
    document_.factors.push_back({{std::move(column)}});
  }

  /// A removed level can no longer define the baseline.
  void forget_baseline(std::size_t leaf, const std::vector<const PooledValue*>& levels) {
    if (!document_.baseline) return;
    auto& conditions = document_.baseline->conditions;
    for (auto one = conditions.begin(); one != conditions.end(); ++one) {
      if (one->leaf != leaf) continue;
      const bool there =
          std::any_of(one->values.begin(), one->values.end(), [&](const auto* value) {
            return std::find(levels.begin(), levels.end(), value) != levels.end();
          });
      if (there) return;
      diagnostics_.note(one->place, "`baseline`: `" + std::string(schema()[leaf].path) +
                                        "` was overridden: this entry is left out");
      conditions.erase(one);
      if (conditions.empty() && document_.baseline->tag.empty()) document_.baseline.reset();
      return;
    }
  }

  SweepReader& reader_;
  SweepDocument& document_;
  LeafReader leaves_;
  Diagnostics& diagnostics_;
};

}  // namespace

namespace {

/// "{logspace: [1e-4,1e-2,3]}" of "logspace(1e-4,1e-2,3)", in which YAML would see three values.
std::string range_as_yaml(const std::string& text) {
  for (const std::string form : {"linspace", "logspace"}) {
    if (!text.starts_with(form + "(") || !text.ends_with(")")) continue;
    return "{" + form + ": [" + text.substr(form.size() + 1, text.size() - form.size() - 2) + "]}";
  }
  return text;
}

}  // namespace

void apply_overrides(const std::vector<std::string>& settings, SweepReader& reader,
                     SweepDocument& document, ValuePool& pool, Diagnostics& diagnostics) {
  Overrider overrider(reader, document, pool, diagnostics);
  for (const std::string& text : settings) {
    const int file = diagnostics.add_text(kOverrideName, text);
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      diagnostics.error({file, 1, 1}, "expected key=value");
      continue;
    }
    Setting setting;
    setting.key = text.substr(0, equals);
    setting.place = {file, 1, 1};
    // Within brackets, YAML itself distinguishes commas between values from those inside them.
    const Place at{file, 1, static_cast<int>(equals) + 1};
    auto list =
        read_yaml_fragment(diagnostics, at, "[" + range_as_yaml(text.substr(equals + 1)) + "]");
    if (!list) continue;
    if (list->kind != YamlNode::Kind::List || list->items.empty()) {
      diagnostics.error({file, 1, static_cast<int>(text.size()) + 1}, "no value after '='");
      continue;
    }
    setting.values = std::move(list->items);
    overrider.apply(setting);
  }
}

}  // namespace depthgrid
