#include "core/config/sweep/leaf_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/schema.hpp"
#include "core/config/start_name.hpp"
#include "core/config/sweep/overrides.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLongestRange = 1000000000;

/// Names used by other tools and older files.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kOtherNames = {{
    {"model.depth", "model.n_layers"},
    {"model.layers", "model.n_layers"},
    {"model.heads", "model.n_heads"},
    {"model.hidden", "model.d_model"},
    {"model.width", "model.d_model"},
    {"model.gate", "model.modulation.gate"},
    {"model.h_mod", "model.modulation.hidden"},
    {"model.scale", "model.residual.scale"},
    {"model.frequencies", "model.time_features.frequencies"},
    {"model.dropout", "model.dropout.mlp"},
    {"data.windows", "data.seq_len"},
    {"data.context", "data.seq_len"},
    {"train.learning_rate", "train.lr"},
    {"train.rate", "train.lr"},
    {"train.batch", "train.batch_size"},
    {"train.clip_norm", "train.clip"},
    {"train.warmup_steps", "train.schedule.warmup_steps"},
    {"train.warmup", "train.schedule.warmup_steps"},
    {"eval.interval", "eval.every"},
    {"resources.ranks", "resources.ranks_per_job"},
    {"packing.cells_per_job", "packing.fuse"},
}};

/// Paths as they are from any working directory.
/// @param folder  that they are relative to; empty = the working directory.
Value absolute_paths(const Value& written, const fs::path& folder) {
  if (const auto* list = written.get_if<ValueList>()) {
    ValueList out;
    for (const Value& item : *list) out.push_back(absolute_paths(item, folder));
    return out;
  }
  const auto* text = written.get_if<std::string>();
  if (text == nullptr || start_name(written).kind != StartName::Kind::Files) return written;
  const fs::path path = fs::absolute(folder / *text).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).string();
}

std::string_view last_part(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::vector<std::string> known_names(bool top_level) {
  std::set<std::string> names;
  for (const Leaf& leaf : schema()) {
    std::string path(leaf.path);
    names.insert(path);
    for (auto dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
      path.resize(dot);
      names.insert(path);
    }
  }
  std::vector<std::string> out(names.begin(), names.end());
  if (top_level) out.insert(out.end(), sweep_keys().begin(), sweep_keys().end());
  return out;
}

std::string suggestion(const std::string& path) {
  for (const auto& [other, ours] : kOtherNames) {
    if (other == path) return std::string(ours);
  }
  const std::string_view last = last_part(path);
  const std::size_t limit = std::max<std::size_t>(1, last.size() / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  const auto consider = [&](std::string_view candidate, std::string_view meant) {
    const std::size_t distance = edit_distance(path, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = meant;
    }
  };
  const auto names = known_names(path.find('.') == std::string::npos);
  for (const auto& name : names) consider(name, name);
  for (const auto& [other, ours] : kOtherNames) consider(other, ours);
  if (!best.empty()) return best;
  // The right name in the wrong place: train.d_model, or just d_model.
  std::size_t nearest_place = std::string::npos;
  for (const auto& name : names) {
    if (last_part(name) != last) continue;
    const std::size_t distance = edit_distance(path, name);
    if (distance < nearest_place) {
      nearest_place = distance;
      best = name;
    }
  }
  return best;
}

/// Losses that are known not to do what they promise. Source: second study, 3.
struct Refusal {
  std::string_view path, why;
};
constexpr std::string_view kReadsTheSignal =
    "a head on the states of the controlled pass reads u itself through the injection, so that its "
    "loss falls to 0 and the text need not change; use `train.control.contrastive` or "
    "`train.control.attribute`, or probe the states at u = 0";
constexpr Refusal kRefused[] = {
    {"train.control.head", kReadsTheSignal},
    {"train.control.classifier", kReadsTheSignal},
    {"train.control.unlikelihood",
     "−log(1 − p(x | −u)) of every token punishes the words that carry no attribute; "
     "`train.control.contrastive` is the form by sentence"},
    {"train.control.reinforce",
     "its reward is the judge that would have to measure it, and its gradient needs far more "
     "samples than a step has; use `train.control.contrastive` or `train.control.attribute`"},
};

/// Null unless a leaf of this name, or under it, is refused.
const Refusal* refusal(std::string_view path) {
  for (const Refusal& one : kRefused) {
    if (path == one.path || path.starts_with(std::string(one.path) + ".")) return &one;
  }
  return nullptr;
}

}  // namespace

std::string_view leaf_of_other_name(std::string_view name) {
  for (const auto& [other, ours] : kOtherNames) {
    if (name == other || name == last_part(other)) return ours;
  }
  return {};
}

const std::vector<std::string>& sweep_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> out;
    for (const GridKey& key : grid_keys()) out.emplace_back(key.name);
    return out;
  }();
  return keys;
}

bool LeafReader::is_section(std::string_view path) {
  const std::string prefix = std::string(path) + ".";
  return std::any_of(schema().begin(), schema().end(),
                     [&](const Leaf& leaf) { return leaf.path.starts_with(prefix); });
}

std::string LeafReader::leaves_of(std::string_view section) {
  constexpr std::size_t kMost = 4;
  const std::string prefix = std::string(section) + ".";
  std::vector<std::string_view> within;
  for (const Leaf& leaf : schema()) {
    if (leaf.path.starts_with(prefix)) within.push_back(leaf.path);
  }
  std::ranges::stable_sort(within, {},
                           [](std::string_view path) { return std::ranges::count(path, '.'); });
  const bool more = within.size() > kMost;
  if (more) within.resize(kMost);
  return fmt::format("{}{}", fmt::join(within, ", "), more ? ", …" : "");
}

void LeafReader::unknown(const std::string& path, Place place, bool holds_leaves) {
  if (diagnostics_.full()) return;
  if (const auto* const refused = refusal(path)) {
    diagnostics_.error(place, "'" + path + "' is refused: " + std::string(refused->why));
    return;
  }
  const std::string near = suggestion(path);
  if (find_leaf(near) != schema().size()) diagnostics_.distrust(find_leaf(near));
  const std::string leaves = holds_leaves || near.empty() ? "" : leaves_of(near);
  diagnostics_.error(
      place, "unknown key '" + path + "'" +
                 (near.empty()     ? " (`depthgrid schema` lists all)"
                  : leaves.empty() ? " (did you mean '" + near + "'?)"
                                   : " (did you mean a leaf of '" + near + "': " + leaves + "?)"));
}

void LeafReader::walk(const std::string& path, Place key, const YamlNode& node,
                      const Visit& visit) {
  const std::size_t leaf = find_leaf(path);
  if (leaf != schema().size()) {
    visit(leaf, key, node);
  } else if (!is_section(path)) {
    unknown(path, key, node.kind == YamlNode::Kind::Map);
  } else if (node.kind == YamlNode::Kind::Map) {
    for (const auto& entry : node.entries) {
      walk(path + "." + entry.key, entry.place, entry.value, visit);
    }
  } else if (node.kind != YamlNode::Kind::Null) {
    diagnostics_.error(node.place, "`" + path + "` is a group of leaves (" + leaves_of(path) +
                                       "): expected a map, found " + node.described());
  }
}

void LeafReader::walk_map(const YamlNode& map, std::string_view skip, const Visit& visit) {
  if (map.kind != YamlNode::Kind::Map) {
    diagnostics_.error(map.place, "expected a map {leaf: value, ...}, found " + map.described());
    return;
  }
  for (const auto& entry : map.entries) {
    if (skip.empty() || entry.key != skip) walk(entry.key, entry.place, entry.value, visit);
  }
}

const PooledValue* LeafReader::value(std::size_t leaf, const YamlNode& node) {
  auto typed = leaf_value(schema()[leaf], node, diagnostics_);
  if (!typed) {
    diagnostics_.distrust(leaf);
    return nullptr;
  }
  if (schema()[leaf].names_file) {
    const std::string& file = diagnostics_.name(node.place.file);
    typed = absolute_paths(*typed, file == kOverrideName ? "" : fs::path(file).parent_path());
  }
  return pool_.intern(*typed);
}

bool LeafReader::may_vary(std::size_t leaf, Place place) {
  const Leaf& row = schema()[leaf];
  if (row.path == "seed" || row.path == "model.seed" || row.path == "data.seed") {
    diagnostics_.error(place, "`" + std::string(row.path) +
                                  "` is not a factor: replicates are made by `seeds:` at the top");
    return false;
  }
  if (row.leaf_class == LeafClass::Execution && row.path != "model.preset") {
    diagnostics_.error(place, "`" + std::string(row.path) +
                                  "` belongs to the run, not to a cell: set it once, outside the "
                                  "grid");
    return false;
  }
  return true;
}

void LeafReader::add_level(Column& column, const YamlNode& node) {
  if (const PooledValue* level = value(column.leaf, node)) {
    column.values.push_back(level);
    column.places.push_back(node.place);
  }
}

void LeafReader::add_levels(Column& column, const YamlNode& list) {
  if (list.items.empty()) {
    diagnostics_.error(list.place, "`" + std::string(schema()[column.leaf].path) +
                                       "` has no levels: an empty list would make zero cells");
  }
  for (const auto& item : list.items) add_level(column, item);
}

void LeafReader::add_range(Column& column, const YamlNode& node, bool logarithmic) {
  const std::string_view what = logarithmic ? "logspace" : "linspace";
  const Leaf& leaf = schema()[column.leaf];
  if (leaf.kind != ValueKind::Int && leaf.kind != ValueKind::Real) {
    diagnostics_.error(node.place, "`" + std::string(leaf.path) + "` is not a number: " +
                                       std::string(what) + " cannot make its levels");
    return;
  }
  if (node.kind != YamlNode::Kind::List || node.items.size() != 3) {
    diagnostics_.error(node.place, "`" + std::string(what) +
                                       "`: expected [first, last, count], "
                                       "found " +
                                       node.described());
    return;
  }
  const auto from = read_number(node.items[0], what, diagnostics_);
  const auto to = read_number(node.items[1], what, diagnostics_);
  const auto count = read_integer(node.items[2], what, 1, kLongestRange, diagnostics_);
  if (!from || !to || !count) return;
  if (logarithmic && (*from <= 0 || *to <= 0)) {
    diagnostics_.error(node.place,
                       "`logspace`: both ends must be > 0 (they are the values "
                       "themselves, not exponents)");
    return;
  }
  column.range = {*from, *to, *count, logarithmic, node.place};
}

std::optional<Column> LeafReader::column(std::size_t leaf, Place key, const YamlNode& node) {
  Column out;
  out.leaf = leaf;
  out.place = key;
  if (!may_vary(leaf, key)) return std::nullopt;
  if (node.kind == YamlNode::Kind::List) {
    add_levels(out, node);
  } else if (node.kind != YamlNode::Kind::Map) {
    add_level(out, node);
  } else if (node.entries.size() != 1) {
    diagnostics_.error(node.place, "`" + std::string(schema()[leaf].path) +
                                       "`: expected one of {values: [...]}, {value: x}, {linspace: "
                                       "[a, b, n]}, {logspace: [a, b, n]}");
  } else {
    const auto& [form, place, content] = node.entries.front();
    if (form == "values" && content.kind == YamlNode::Kind::List) {
      add_levels(out, content);
    } else if (form == "values") {
      diagnostics_.error(content.place, "`values`: expected a list, found " + content.described() +
                                            ": one fixed value is `value:`");
    } else if (form == "value") {
      add_level(out, content);
    } else if (form == "linspace" || form == "logspace") {
      add_range(out, content, form == "logspace");
    } else {
      const std::string near = nearest(form, {"values", "value", "linspace", "logspace"});
      diagnostics_.error(place, "`" + std::string(schema()[leaf].path) + "`: unknown key '" + form +
                                    "'" + (near.empty() ? "" : " (did you mean '" + near + "'?)") +
                                    "; a factor is a list, {values}, {value}, {linspace} or "
                                    "{logspace}");
    }
  }
  if (out.size() == 0) return std::nullopt;
  return out;
}

std::optional<LeafCondition> LeafReader::condition(std::size_t leaf, Place key,
                                                   const YamlNode& node) {
  LeafCondition out;
  out.leaf = leaf;
  out.place = key;
  const ValueKind kind = schema()[leaf].kind;
  const bool list_leaf = kind == ValueKind::WordList || kind == ValueKind::TextList ||
                         kind == ValueKind::LayerList || kind == ValueKind::LayerRange ||
                         kind == ValueKind::RealList;
  const bool list_of_lists = node.kind == YamlNode::Kind::List && !node.items.empty() &&
                             node.items.front().kind == YamlNode::Kind::List;
  if (node.kind == YamlNode::Kind::List && (!list_leaf || list_of_lists)) {
    for (const auto& item : node.items) {
      if (const PooledValue* one = value(leaf, item)) out.values.push_back(one);
    }
  } else if (const PooledValue* one = value(leaf, node)) {
    out.values.push_back(one);
  }
  if (out.values.empty()) return std::nullopt;
  return out;
}

}  // namespace depthgrid
