#include "core/config/sweep/sweep_reader.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/parse_number.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostSeeds = 1000000;

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 64 && letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '.' || c == '_' || c == '-'; });
}

/// Text of a file; nothing if it is not a readable regular file. Larger files are cut just past the
/// limit, and then refused by the reader.
std::optional<std::string> read_file(const fs::path& file) {
  std::error_code problem;
  if (!fs::is_regular_file(file, problem)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  std::string text(kLongestYaml + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (!stream && !stream.eof())) return std::nullopt;
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

}  // namespace

SweepReader::SweepReader(ValuePool& pool, Diagnostics& diagnostics)
    : pool_(pool), diagnostics_(diagnostics), leaves_(pool, diagnostics) {}

SweepDocument SweepReader::read(const fs::path& file) {
  const auto text = read_file(file);
  if (!text) {
    throw StorageError(file.string(), "no readable sweep file there", ExitCode::NoInput);
  }
  const int index = diagnostics_.add_text(file.string(), *text);
  SweepDocument document;
  document.name = file.stem().string();
  document.place = {index, 0, 0};
  open_ = {fs::weakly_canonical(file)};
  read_document(document, file, index, false);
  if (!is_name(document.name)) {
    diagnostics_.error(document.place, "'" + document.name +
                                           "' is no name for a sweep: letters, digits and . _ -, "
                                           "at most 64, a letter or digit first; give `name:`");
  }
  return document;
}

void SweepReader::read_document(SweepDocument& document, const fs::path& file, int text,
                                bool is_base) {
  const auto root = read_yaml(diagnostics_, text);
  if (!root) complete_ = false;
  if (!root) return;
  const bool empty = root->kind == YamlNode::Kind::Null ||
                     (root->kind == YamlNode::Kind::Map && root->entries.empty());
  if (empty) {
    if (!is_base) {
      diagnostics_.error(document.place,
                         "the file is empty: give at least one key, for example `model: {family: "
                         "standard}`");
    }
    return;
  }
  if (root->kind != YamlNode::Kind::Map) {
    diagnostics_.error(root->place, "a sweep file is a map of keys, found " + root->described());
    return;
  }
  if (const YamlNode* base = root->find("base")) read_base(document, file, *base);
  written_.clear();
  for (const auto& [key, place, value] : root->entries) {
    if (key == "base") continue;
    const auto& keys = sweep_keys();
    const bool sweep_key = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (sweep_key && is_base && key != "metric" && key != "seeds" && key != "tags") {
      diagnostics_.error(place, "`" + key +
                                    "` belongs in the sweep file: a base holds fixed "
                                    "leaves, `base`, `metric`, `seeds` and `tags`");
    } else if (sweep_key) {
      read_key(document, key, place, value);
    } else {
      leaves_.walk(key, place, value, [&](std::size_t leaf, Place at, const YamlNode& node) {
        read_leaf(document, leaf, at, node);
      });
    }
  }
}

void SweepReader::read_base(SweepDocument& document, const fs::path& file, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::Null) return;
  std::vector<YamlNode> items = node.items;
  if (node.kind == YamlNode::Kind::Scalar) items = {node};
  if (node.kind == YamlNode::Kind::Map) {
    diagnostics_.error(node.place, "`base`: expected a path or a list of paths, found a map");
    return;
  }
  for (const auto& item : items) {
    const auto name = read_text(item, "base", diagnostics_);
    if (!name) continue;
    const fs::path path = file.parent_path() / *name;
    const fs::path canonical = fs::weakly_canonical(path);
    const auto cycle = std::find(open_.begin(), open_.end(), canonical);
    if (cycle != open_.end()) {
      std::string chain;
      for (auto one = cycle; one != open_.end(); ++one) chain += one->filename().string() + " -> ";
      diagnostics_.error(
          item.place, "`base`: the files form a cycle: " + chain + canonical.filename().string());
      continue;
    }
    const auto text = read_file(path);
    if (!text) {
      complete_ = false;
      diagnostics_.error(item.place, "`base`: no file '" + path.string() +
                                         "' (paths are relative to the file that names them)");
      continue;
    }
    open_.push_back(canonical);
    read_document(document, path, diagnostics_.add_text(path.string(), *text), true);
    open_.pop_back();
  }
}

void SweepReader::read_leaf(SweepDocument& document, std::size_t leaf, Place key,
                            const YamlNode& node) {
  if (!written_.insert(leaf).second) {
    diagnostics_.error(key, "`" + std::string(schema()[leaf].path) +
                                "` is given twice (nested and "
                                "dotted)");
    return;
  }
  if (const PooledValue* value = leaves_.value(leaf, node)) {
    document.fixed[leaf] = {leaf, value, key};
  }
}

bool SweepReader::read_key(SweepDocument& document, const std::string& key, Place place,
                           const YamlNode& value) {
  if (key == "name") {
    if (const auto text = read_text(value, key, diagnostics_)) {
      if (is_name(*text)) {
        document.name = *text;
      } else {
        diagnostics_.error(value.place, "`name`: '" + *text +
                                            "' is not letters, digits and . _ - (at most 64, a "
                                            "letter or digit first)");
      }
    }
  } else if (key == "description") {
    if (const auto text = read_text(value, key, diagnostics_)) document.description = *text;
  } else if (key == "method") {
    const auto word = read_word(value, key, {"grid", "ablation", "list"}, diagnostics_);
    if (word) document.method = *word;
  } else if (key == "pairs") {
    if (const auto flag = read_flag(value, key, diagnostics_)) document.pairs = *flag;
  } else if (key == "metric") {
    read_metric(document, value);
  } else if (key == "parameters") {
    read_parameters(document.factors, value);
  } else if (key == "zip") {
    read_zip(document, value);
  } else if (key == "when") {
    read_when(document, value);
  } else if (key == "exclude") {
    read_exclude(document, value);
  } else if (key == "include") {
    read_include(document, value);
  } else if (key == "baseline") {
    read_baseline(document, value);
  } else if (key == "match") {
    document.match = read_match(value, leaves_, diagnostics_);
  } else if (key == "seeds") {
    read_seeds(document, value);
  } else if (key == "order") {
    read_order(document, value);
  } else if (key == "max_cells") {
    const auto n = read_integer(value, key, 1, 1000000000, diagnostics_);
    if (n) document.max_cells = *n;
  } else if (key == "tags") {
    read_tags(document, value);
  } else if (key == "overrides") {
    read_overrides(document, value);
  } else {
    diagnostics_.error(place, "`" + key + "` cannot be set here");
    return false;
  }
  return true;
}

void SweepReader::read_metric(SweepDocument& document, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Map) {
    diagnostics_.error(node.place,
                       "`metric`: expected {name: ..., goal: minimize or maximize}, "
                       "found " +
                           node.described());
    return;
  }
  for (const auto& [key, place, value] : node.entries) {
    if (key == "name") {
      if (const auto text = read_text(value, "metric.name", diagnostics_)) {
        document.metric = *text;
        document.metric_place = value.place;
      }
    } else if (key == "goal") {
      const auto word = read_word(value, "metric.goal", {"minimize", "maximize"}, diagnostics_);
      if (word) document.goal = *word;
    } else {
      diagnostics_.error(place, "unknown key '" + key + "' in `metric` (name, goal)");
    }
  }
}

void SweepReader::read_seeds(SweepDocument& document, const YamlNode& node) {
  document.seeds_place = node.place;
  if (node.kind != YamlNode::Kind::List) {
    const auto n = read_integer(node, "seeds", 1, kMostSeeds, diagnostics_);
    if (!n) return;
    document.seeds.clear();
    for (std::int64_t i = 0; i < *n; ++i) document.seeds.push_back(i);
    return;
  }
  std::vector<std::int64_t> seeds;
  for (const auto& item : node.items) {
    const auto seed =
        read_integer(item, "seeds", 0, std::numeric_limits<std::int64_t>::max(), diagnostics_);
    if (!seed) continue;
    if (std::find(seeds.begin(), seeds.end(), *seed) != seeds.end()) {
      diagnostics_.error(item.place, "`seeds`: " + std::to_string(*seed) + " is there twice");
    }
    seeds.push_back(*seed);
  }
  if (node.items.empty()) {
    diagnostics_.error(node.place, "`seeds`: an empty list would make zero cells");
  }
  if (!seeds.empty()) document.seeds = seeds;
}

void SweepReader::read_order(SweepDocument& document, const YamlNode& node) {
  constexpr std::string_view kShuffled = "shuffled(";
  const auto text = read_text(node, "order", diagnostics_);
  if (!text) return;
  if (*text == "file") {
    document.shuffle.reset();
    return;
  }
  if (text->starts_with(kShuffled) && text->ends_with(")")) {
    const std::string_view within = std::string_view(*text).substr(kShuffled.size());
    if (const auto seed = parse_number<std::uint64_t>(within.substr(0, within.size() - 1))) {
      document.shuffle = *seed;
      return;
    }
  }
  diagnostics_.error(
      node.place,
      "`order`: expected file or shuffled(n) with an integer n ≥ 0, found " + node.described());
}

void SweepReader::read_tags(SweepDocument& document, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::List) {
    diagnostics_.error(node.place, "`tags`: expected a list of words, found " + node.described());
    return;
  }
  document.tags.clear();
  for (const auto& item : node.items) {
    if (const auto text = read_text(item, "tags", diagnostics_)) document.tags.push_back(*text);
  }
}

void SweepReader::read_overrides(SweepDocument& document, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::List) {
    diagnostics_.error(node.place,
                       "`overrides`: expected a list of leaves, found " + node.described());
    return;
  }
  for (const auto& item : node.items) {
    const auto path = read_text(item, "overrides", diagnostics_);
    if (!path) continue;
    const std::size_t leaf = find_leaf(*path);
    if (leaf == schema().size()) {
      leaves_.unknown(*path, item.place);
    } else {
      document.overrides.insert(leaf);
    }
  }
}

void SweepReader::read_parameters(std::vector<Factor>& factors, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::Null) return;
  if (node.kind != YamlNode::Kind::Map) {
    diagnostics_.error(
        node.place, "`parameters`: expected a map {leaf: levels, ...}, found " + node.described());
    return;
  }
  for (const auto& [key, place, value] : node.entries) {
    const std::size_t leaf = find_leaf(key);
    if (leaf == schema().size() && LeafReader::is_section(key)) {
      diagnostics_.error(place, "`" + key +
                                    "` is a group of leaves: factors are written with "
                                    "their whole path: " +
                                    LeafReader::leaves_of(key));
    } else if (leaf == schema().size()) {
      leaves_.unknown(key, place);
    } else if (auto column = leaves_.column(leaf, place, value)) {
      factors.push_back({{std::move(*column)}});
    }
  }
}

bool SweepReader::expect_rows(const YamlNode& node, std::string_view what, std::string_view row) {
  if (node.kind == YamlNode::Kind::List) return true;
  if (node.kind != YamlNode::Kind::Null) {
    diagnostics_.error(node.place, "`" + std::string(what) + "`: expected a list of rows such as " +
                                       std::string(row) + ", found " + node.described());
  }
  return false;
}

void SweepReader::read_zip(SweepDocument& document, const YamlNode& node) {
  if (!expect_rows(node, "zip", "- {leaf: [a, b], other: [c, d]}")) return;
  for (const auto& row : node.items) {
    std::vector<Factor> columns;
    read_parameters(columns, row);
    Factor zipped;
    for (auto& column : columns) zipped.columns.push_back(std::move(column.columns.front()));
    if (zipped.columns.empty()) continue;
    const Column& first = zipped.columns.front();
    bool good = true;
    for (const Column& column : zipped.columns) {
      if (column.size() == first.size()) continue;
      good = false;
      diagnostics_.error(column.place, "`zip`: `" + std::string(schema()[column.leaf].path) +
                                           "` has " + std::to_string(column.size()) + " levels, `" +
                                           std::string(schema()[first.leaf].path) + "` has " +
                                           std::to_string(first.size()));
    }
    if (good) document.factors.push_back(std::move(zipped));
  }
}

void SweepReader::read_when(SweepDocument& document, const YamlNode& node) {
  if (!expect_rows(node, "when", "- {if: {leaf: value}, parameters: {leaf: [levels]}}")) return;
  for (const auto& row : node.items) {
    const YamlNode* condition = row.find("if");
    const YamlNode* parameters = row.find("parameters");
    for (const auto& entry : row.entries) {
      if (entry.key != "if" && entry.key != "parameters") {
        diagnostics_.error(entry.place,
                           "unknown key '" + entry.key + "' in `when` (if, parameters)");
      }
    }
    if (condition == nullptr || parameters == nullptr) {
      diagnostics_.error(row.place, "`when`: a row needs `if` and `parameters`");
      continue;
    }
    WhenBlock block;
    block.place = row.place;
    block.condition = read_conditions(*condition, "");
    read_parameters(block.factors, *parameters);
    if (!block.factors.empty()) document.when.push_back(std::move(block));
  }
}

std::vector<LeafCondition> SweepReader::read_conditions(const YamlNode& node,
                                                        std::string_view skip) {
  std::vector<LeafCondition> out;
  leaves_.walk_map(node, skip, [&](std::size_t leaf, Place key, const YamlNode& value) {
    if (auto one = leaves_.condition(leaf, key, value)) out.push_back(std::move(*one));
  });
  return out;
}

void SweepReader::read_exclude(SweepDocument& document, const YamlNode& node) {
  if (!expect_rows(node, "exclude", "- {leaf: value}")) return;
  for (const auto& row : node.items) {
    ExcludeRow exclude{read_conditions(row, ""), row.place};
    if (exclude.conditions.empty()) {
      diagnostics_.error(row.place, "`exclude`: a row without a leaf would drop every cell");
    } else {
      document.exclude.push_back(std::move(exclude));
    }
  }
}

void SweepReader::read_include(SweepDocument& document, const YamlNode& node) {
  if (!expect_rows(node, "include", "- {leaf: value, tag: name}")) return;
  for (const auto& row : node.items) {
    IncludeRow include;
    include.place = row.place;
    if (const YamlNode* tag = row.find("tag")) {
      const auto text = read_text(*tag, "tag", diagnostics_);
      if (text && is_name(*text)) {
        include.tag = *text;
      } else if (text) {
        diagnostics_.error(tag->place, "`tag`: '" + *text +
                                           "' is not letters, digits and . _ - (at most 64, a "
                                           "letter or digit first)");
      }
      for (const auto& other : document.include) {
        if (!include.tag.empty() && other.tag == include.tag) {
          diagnostics_.error(tag->place, "`tag`: '" + include.tag + "' names two rows");
        }
      }
    }
    leaves_.walk_map(row, "tag", [&](std::size_t leaf, Place key, const YamlNode& value) {
      if (!leaves_.may_vary(leaf, key)) return;
      if (const PooledValue* one = leaves_.value(leaf, value)) {
        include.leaves.push_back({leaf, one, key});
      }
    });
    document.include.push_back(std::move(include));
  }
}

void SweepReader::read_baseline(SweepDocument& document, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::Null) return;
  document.baseline = read_selection(node, "baseline", leaves_, diagnostics_);
}

}  // namespace depthgrid
