#include "core/config/sweep/composed.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/printable.hpp"
#include "core/base/version.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Whether YAML reads the text as this very text without quotes.
bool is_plain(std::string_view text) {
  constexpr std::array<std::string_view, 9> kOther = {"true", "false", "null", "yes", "no",
                                                      "on",   "off",   "y",    "n"};
  if (text.empty() || !is_letter(text[0])) return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return std::ranges::find(kOther, lower) == kOther.end() && std::ranges::all_of(text, [](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
         });
}

std::string text_yaml(std::string_view text) {
  return is_plain(text) ? std::string(text) : canonical_json(Value(text));
}

template <class Items, class Shown>
std::string joined_yaml(const Items& items, Shown shown) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + shown(item);
  return out;
}

/// In flow style; JSON is YAML, but for people words need no quotes.
std::string value_yaml(const Value& value) {
  if (const auto* text = value.get_if<std::string>()) return text_yaml(*text);
  if (const auto* list = value.get_if<ValueList>())
    return "[" + joined_yaml(*list, value_yaml) + "]";
  if (const auto* map = value.get_if<ValueMap>()) {
    return "{" +
           joined_yaml(*map,
                       [](const auto& entry) {
                         return text_yaml(entry.first) + ": " + value_yaml(entry.second);
                       }) +
           "}";
  }
  return canonical_json(value);
}

std::string path_of(std::size_t leaf) {
  return std::string(schema()[leaf].path);
}

std::string pooled_yaml(const PooledValue* value) {
  return value_yaml(*value);
}

std::string column_yaml(const Column& column) {
  std::string levels = "[" + joined_yaml(column.values, pooled_yaml) + "]";
  if (column.range) {
    const NumberRange& range = *column.range;
    levels = std::string(range.logarithmic ? "{logspace: [" : "{linspace: [") +
             shortest(range.from) + ", " + shortest(range.to) + ", " + std::to_string(range.count) +
             "]}";
  }
  return path_of(column.leaf) + ": " + levels;
}

std::string columns_yaml(const std::vector<Column>& columns) {
  return "{" + joined_yaml(columns, column_yaml) + "}";
}

/// One value as it is; several as a list, in the order in which they were written.
std::string condition_yaml(const LeafCondition& one) {
  const std::string values = joined_yaml(one.values, pooled_yaml);
  return path_of(one.leaf) + ": " + (one.values.size() == 1 ? values : "[" + values + "]");
}

std::string selection_yaml(const ArmSelection& selection) {
  std::string out = joined_yaml(selection.conditions, condition_yaml);
  if (!selection.tag.empty()) out += (out.empty() ? "tag: " : ", tag: ") + text_yaml(selection.tag);
  return "{" + out + "}";
}

std::string match_yaml(const MatchRow& rule) {
  std::string out = "{on: " + std::string(kMatchOnNames.at(static_cast<std::size_t>(rule.on))) +
                    ", vary: " + path_of(rule.vary) + ", tolerance: " + shortest(rule.tolerance);
  if (rule.reference) out += ", reference: " + selection_yaml(*rule.reference);
  if (rule.arms) out += ", arms: " + selection_yaml(*rule.arms);
  return out + "}";
}

std::string include_yaml(const IncludeRow& row) {
  std::string out = joined_yaml(row.leaves, [](const WrittenLeaf& one) {
    return path_of(one.leaf) + ": " + pooled_yaml(one.value);
  });
  if (!row.tag.empty()) out = "tag: " + text_yaml(row.tag) + (out.empty() ? "" : ", ") + out;
  return "{" + out + "}";
}

std::string when_yaml(const WhenBlock& block) {
  std::vector<Column> columns;
  for (const Factor& factor : block.factors) columns.push_back(factor.columns.front());
  return "{if: {" + joined_yaml(block.condition, condition_yaml) +
         "}, parameters: " + columns_yaml(columns) + "}";
}

/// A key with one row per line; nothing without rows.
template <class Rows, class Shown>
std::string rows_yaml(const char* key, const Rows& rows, Shown shown) {
  std::string out;
  for (const auto& row : rows) out += "  - " + shown(row) + "\n";
  return out.empty() ? "" : std::string(key) + ":\n" + out;
}

/// The fixed leaves, nested by their first component, in the order of the schema.
std::string fixed_yaml(const SweepDocument& document) {
  std::vector<std::pair<std::string, std::string>> sections;  // "model", its lines
  std::string out;
  for (const auto& [leaf, one] : document.fixed) {
    const std::string path = path_of(leaf);
    const std::size_t dot = path.find('.');
    const std::string value = ": " + pooled_yaml(one.value) + "\n";
    if (dot == std::string::npos) {
      out += path + value;
      continue;
    }
    auto at =
        std::ranges::find(sections, path.substr(0, dot), [](const auto& s) { return s.first; });
    if (at == sections.end()) at = sections.insert(at, {path.substr(0, dot), ""});
    at->second += "  " + path.substr(dot + 1) + value;
  }
  for (const auto& [section, lines] : sections) out += section + ":\n" + lines;
  return out;
}

/// Single factors before the first pair of columns are `parameters`, the others `zip`, where one
/// column is a factor like any other: the order of the factors is the order of the cells.
std::string factors_yaml(const SweepDocument& document) {
  const auto paired = std::ranges::find_if(
      document.factors, [](const Factor& factor) { return factor.columns.size() > 1; });
  std::string out;
  for (auto one = document.factors.begin(); one != paired; ++one) {
    out += "  " + column_yaml(one->columns.front()) + "\n";
  }
  if (!out.empty()) out = "parameters:\n" + out;
  return out + rows_yaml("zip", std::vector<Factor>(paired, document.factors.end()),
                         [](const Factor& factor) { return columns_yaml(factor.columns); });
}

std::string seeds_yaml(const std::vector<std::int64_t>& seeds) {
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i] == static_cast<std::int64_t>(i)) continue;
    return "[" + joined_yaml(seeds, [](std::int64_t seed) { return std::to_string(seed); }) + "]";
  }
  return std::to_string(seeds.size());
}

}  // namespace

std::string composed_yaml(const SweepDocument& document) {
  const SweepDocument initial;
  std::string out = "name: " + text_yaml(document.name) + "\n";
  if (!document.description.empty()) {
    out += "description: " + text_yaml(document.description) + "\n";
  }
  if (document.method != initial.method) out += "method: " + document.method + "\n";
  if (document.pairs) out += "pairs: true\n";
  if (document.metric_place) {  // it must be evaluated; the default need not
    out += "metric: {name: " + text_yaml(document.metric) + ", goal: " + document.goal + "}\n";
  } else if (document.goal != initial.goal) {
    out += "metric: {goal: " + document.goal + "}\n";
  }
  out += "seeds: " + seeds_yaml(document.seeds) + "\n";
  if (document.shuffle) out += "order: shuffled(" + std::to_string(*document.shuffle) + ")\n";
  if (document.max_cells != initial.max_cells) {
    out += "max_cells: " + std::to_string(document.max_cells) + "\n";
  }
  if (!document.tags.empty()) {
    out += "tags: [" +
           joined_yaml(document.tags, [](const std::string& tag) { return text_yaml(tag); }) +
           "]\n";
  }
  out += fixed_yaml(document) + factors_yaml(document);
  out += rows_yaml("when", document.when, when_yaml);
  out += rows_yaml("exclude", document.exclude, [](const ExcludeRow& row) {
    return "{" + joined_yaml(row.conditions, condition_yaml) + "}";
  });
  out += rows_yaml("include", document.include, include_yaml);
  if (document.baseline) out += "baseline: " + selection_yaml(*document.baseline) + "\n";
  out += rows_yaml("match", document.match, match_yaml);
  if (!document.overrides.empty()) {
    out += "overrides: [" + joined_yaml(document.overrides, path_of) + "]\n";
  }
  return out;
}

std::string composed_heading(const SweepRequest& request) {
  std::string command = "depthgrid run " + shell_word(request.file.string());
  for (const std::string& setting : request.set) command += " --set " + shell_word(setting);
  if (request.yes) command += " --yes";
  return "# Bases composed, --set applied, paths absolute: by depthgrid " + code_version() +
         " from\n#   " + command + "\n";
}

}  // namespace depthgrid
