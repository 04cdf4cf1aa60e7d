#include "storage/columns/param_columns.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/base/nan.hpp"
#include "core/config/schema.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

constexpr const char* kFamily = "model.family";

/// Leaves that the sweep varies, besides those that have a column in any case, by path.
std::set<std::string> varied_leaves(const StoredPlan& plan) {
  std::set<std::string> out;
  for (const StoredCell& cell : plan.cells) {
    for (const auto& [leaf, value] : cell.overrides) out.insert(leaf);
  }
  for (const char* always : {"seed", "data.seed", kFamily}) out.erase(always);
  return out;
}

/// "param_train_lr" from "train.lr".
std::string param_name(std::string leaf) {
  std::ranges::replace(leaf, '.', '_');
  return "param_" + leaf;
}

std::string text_of(const Value& value) {
  if (value.is_null()) return {};
  const auto* word = value.get_if<std::string>();
  return word != nullptr ? *word : canonical_json(value);
}

double number_of(const Value& value) {
  if (value.is_number()) return value.number();
  const bool* flag = value.get_if<bool>();
  return flag == nullptr ? kNaN : static_cast<double>(*flag);
}

std::int64_t integer_of(const Value& value) {
  const auto* whole = value.get_if<std::int64_t>();
  return whole == nullptr ? -1 : *whole;
}

/// One leaf over all cells of a plan.
class LeafColumn {
 public:
  LeafColumn(std::string leaf, const StoredPlan& plan) : leaf_(std::move(leaf)), plan_(plan) {
    for (const StoredCell& cell : plan.cells) {
      const Value& value = of(cell);
      if (value.is_null()) continue;
      flags_ = flags_ && value.get_if<bool>() != nullptr;
      integers_ = integers_ && value.get_if<std::int64_t>() != nullptr;
      numbers_ = numbers_ && value.is_number();
      some_numbers_ = some_numbers_ || value.is_number();
    }
  }

  void add(std::vector<VariableColumn>& out, std::span<const StoredCell> cells) const {
    const std::string name = param_name(leaf_);
    const auto numbers = [&](const std::string& own, DataType type) {
      return number_column(own, {"cell"}, type, each(cells, number_of));
    };
    if (flags_) {
      out.push_back(annotated(numbers(name, DataType::Int8)));
    } else if (integers_) {
      out.push_back(
          annotated(integer_column(name, {"cell"}, DataType::Int64, each(cells, integer_of))));
    } else if (numbers_) {
      out.push_back(annotated(numbers(name, DataType::Float64)));
    } else {
      out.push_back(annotated(text_column(name, {"cell"}, each(cells, text_of))));
      if (!some_numbers_) return;
      out.push_back(annotated(numbers(name + "_number", DataType::Float64), ", as a number"));
    }
  }

 private:
  const Value& of(const StoredCell& cell) const {
    static const Value kAbsent;
    if (const Value* set = find_key(cell.overrides, leaf_)) return *set;
    if (leaf_ != kFamily) return kAbsent;  // every cell reads its family
    const Value* family = leaf_of(plan_, cell, leaf_);
    return family == nullptr ? kAbsent : *family;
  }

  template <class T>
  std::vector<T> each(std::span<const StoredCell> cells, T (*take)(const Value&)) const {
    std::vector<T> out;
    for (const StoredCell& cell : cells) out.push_back(take(of(cell)));
    return out;
  }

  VariableColumn annotated(VariableColumn column, const std::string& suffix = "") const {
    const std::size_t row = find_leaf(leaf_);
    if (find_variable(column.name) != nullptr) {
      describe(column);
    } else {
      const std::string doc(row < schema().size() ? schema()[row].doc : leaf_);
      column.attributes = {{"units", std::string("1")},
                           {"long_name", doc + suffix},
                           {"schedule", std::string("plan")}};
    }
    column.attributes.emplace_back("leaf", leaf_);
    if (row < schema().size()) {  // readers need not know that some alternatives affect fusion
      const LeafClass own = schema()[row].leaf_class;
      const LeafClass shown = own == LeafClass::PerCellUnion ? LeafClass::PerCell : own;
      column.attributes.emplace_back("leaf_class", std::string(name_of(shown)));
    }
    if (column.type == DataType::Int8) {
      column.attributes.emplace_back("flag_values", std::vector<std::int8_t>{0, 1});
      column.attributes.emplace_back("flag_meanings", std::string("false true"));
    }
    return column;
  }

  std::string leaf_;
  const StoredPlan& plan_;
  bool flags_ = true, integers_ = true, numbers_ = true, some_numbers_ = false;
};

VariableColumn texts_of(std::string name, std::span<const StoredCell> cells,
                        std::string StoredCell::* member) {
  std::vector<std::string> values;
  for (const StoredCell& cell : cells) values.push_back(cell.*member);
  VariableColumn out = text_column(name, {"cell"}, values);
  describe(out);
  return out;
}

template <class T>
VariableColumn numbers_of(std::string name, std::span<const StoredCell> cells,
                          T StoredCell::* member) {
  std::vector<std::int64_t> values;
  for (const StoredCell& cell : cells) values.push_back(static_cast<std::int64_t>(cell.*member));
  VariableColumn out = integer_column(name, {"cell"}, find_variable(name)->type, values);
  describe(out);
  return out;
}

}  // namespace

std::vector<VariableColumn> identity_columns(const StoredPlan& plan,
                                             std::span<const StoredCell> cells) {
  std::vector<VariableColumn> out;
  out.push_back(texts_of("cell", cells, &StoredCell::id));
  out.push_back(texts_of("cell_alias", cells, &StoredCell::alias));
  out.push_back(numbers_of("cell_row", cells, &StoredCell::row));
  out.push_back(texts_of("cell_config", cells, &StoredCell::changed));
  out.push_back(texts_of("structure_digest", cells, &StoredCell::structure));
  out.push_back(texts_of("arm", cells, &StoredCell::arm));
  out.push_back(texts_of("factor", cells, &StoredCell::factor));
  out.push_back(numbers_of("is_baseline", cells, &StoredCell::baseline));
  out.push_back(numbers_of("replicate", cells, &StoredCell::replicate));
  const auto add_seed = [&](const char* name, const char* leaf, std::int64_t StoredCell::* member) {
    VariableColumn& column = out.emplace_back(numbers_of(name, cells, member));
    column.attributes.emplace_back("leaf", std::string(leaf));
    column.attributes.emplace_back("leaf_class", std::string("PerCell"));
  };
  add_seed("param_seed", "seed", &StoredCell::seed);
  add_seed("param_data_seed", "data.seed", &StoredCell::data_seed);
  LeafColumn(kFamily, plan).add(out, cells);
  for (const std::string& leaf : varied_leaves(plan)) LeafColumn(leaf, plan).add(out, cells);
  return out;
}

std::vector<VariableColumn> generation_columns(const StoredPlan& plan) {
  std::vector<std::int64_t> newest;
  for (const StoredCell& cell : plan.cells) newest.push_back(in_newest_plan(plan, cell) ? 1 : 0);
  VariableColumn flags = integer_column("in_newest_plan", {"cell"}, DataType::Int8, newest);
  describe(flags);
  std::vector<VariableColumn> out;
  out.push_back(std::move(flags));
  out.push_back(numbers_of("plan_generation", plan.cells, &StoredCell::generation));
  return out;
}

std::string coordinate_names(std::span<const VariableColumn> identity) {
  std::string out;
  for (const VariableColumn& column : identity) {
    const bool axis = column.name == "cell";
    if (axis || find_variable(column.name) == nullptr) continue;
    out += (out.empty() ? "" : " ") + column.name;
  }
  return out;
}

bool readable_version(const std::optional<std::string>& version) {
  const int major = version ? std::atoi(version->c_str()) : 0;
  return major >= 1 && major <= std::atoi(kFormatVersion.data());
}

Attributes sweep_attributes(const StoredPlan& plan, const std::string& format) {
  return {{"format", format},
          {"format_version", std::string(kFormatVersion)},
          {"Conventions", std::string("CF-1.11")},
          {"title", plan.description.empty() ? plan.name : plan.description},
          {"sweep_name", plan.name},
          {"sweep_id", plan.id},
          {"metric", plan.metric},
          {"goal", plan.goal},
          {"schema_digest", plan.schema_digest}};
}

}  // namespace depthgrid
