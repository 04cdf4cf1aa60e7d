#include "core/config/sweep/naming.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

/// The last `parts` components of a path.
std::string ending(std::string_view path, int parts) {
  std::size_t begin = path.size();
  for (int i = 0; i < parts && begin != 0 && begin != std::string_view::npos; ++i) {
    begin = path.rfind('.', begin - 1);
    if (begin == std::string_view::npos) return std::string(path);
  }
  return std::string(path.substr(begin + 1));
}

/// A fraction with three significant digits, written as short as possible; empty for other values.
std::string rounded(const Value& value) {
  const double* number = value.get_if<double>();
  if (number == nullptr || *number == std::floor(*number)) return {};
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", *number);
  return shortest(std::strtod(text, nullptr));
}

}  // namespace

Naming::Naming(const SweepDocument& document) : ablation_(document.method == "ablation") {
  std::set<std::size_t> shown;
  std::set<std::size_t> varying;  // these besides
  const auto meet = [this](std::size_t leaf, const PooledValue* value) {
    const std::string text = rounded(*value);
    if (!text.empty()) rounded_[{leaf, text}].insert(value);
  };
  const auto add = [&](const Factor& factor) {
    for (const Column& column : factor.columns) {
      for (const PooledValue* value : column.values) meet(column.leaf, value);
      if (factor.size() > 1) shown.insert(column.leaf);
    }
  };
  for (const Factor& factor : document.factors) add(factor);
  for (const WhenBlock& block : document.when) {
    for (const Factor& factor : block.factors) {
      add(factor);
      varying.insert(factor.columns.front().leaf);  // other cells have their default
    }
  }
  for (const IncludeRow& row : document.include) {
    for (const WrittenLeaf& one : row.leaves) {
      shown.insert(one.leaf);
      meet(one.leaf, one.value);
    }
  }
  for (const MatchRow& rule : document.match) varying.insert(rule.vary);
  varying.insert(shown.begin(), shown.end());
  varying_.assign(varying.begin(), varying.end());
  std::sort(varying_.begin(), varying_.end(),
            [](std::size_t a, std::size_t b) { return schema()[a].path < schema()[b].path; });
  for (const std::size_t leaf : shown) {
    std::string name;
    for (int parts = 1;; ++parts) {
      name = ending(schema()[leaf].path, parts);
      const bool unique = std::none_of(shown.begin(), shown.end(), [&](std::size_t other) {
        return other != leaf && ending(schema()[other].path, parts) == name;
      });
      if (unique || name == schema()[leaf].path) break;
    }
    short_names_.emplace(leaf, name);
  }
}

std::string Naming::value_text(const WrittenLeaf& one) const {
  const std::string whole = plain_text(*one.value);
  if (schema()[one.leaf].names_file && whole.starts_with('/')) {
    return std::filesystem::path(whole).filename().string();
  }
  const std::string text = rounded(*one.value);
  const auto met = rounded_.find({one.leaf, text});
  return met != rounded_.end() && met->second.size() == 1 ? text : whole;
}

std::string Naming::arm(const Arm& arm) const {
  std::string out;
  const auto add = [&](const std::vector<WrittenLeaf>& leaves) {
    for (const WrittenLeaf& one : leaves) {
      const auto name = short_names_.find(one.leaf);
      if (name == short_names_.end()) continue;
      if (!out.empty()) out += ',';
      out += name->second;
      out += '=';
      out += value_text(one);
    }
  };
  if (arm.include != nullptr) {
    if (!arm.include->tag.empty()) return arm.include->tag;
    add(arm.include->leaves);
  } else if (ablation_) {
    add(arm.changed);
  } else {
    add(arm.levels);
  }
  return out.empty() ? "baseline" : out;
}

std::string Naming::factor(const Arm& arm) {
  std::string out;
  for (const WrittenLeaf& one : arm.changed) {
    out += (out.empty() ? "" : "+") + std::string(schema()[one.leaf].path);
  }
  return out;
}

}  // namespace depthgrid
