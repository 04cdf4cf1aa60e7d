#include "storage/columns/param_columns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/nan.hpp"
#include "core/config/schema.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

/// One leaf over all cells of a plan.
class LeafColumn {
 public:
  LeafColumn(std::string leaf, const StoredPlan& plan) : leaf_(std::move(leaf)) {
    for (const StoredCell& cell : plan.cells) {
      const Value& value = of(plan, cell);
      if (value.is_null()) continue;
      const bool flag = value.get_if<bool>() != nullptr;
      const bool whole = value.get_if<std::int64_t>() != nullptr;
      flags_ = flags_ && flag;
      integers_ = integers_ && whole;
      numbers_ = numbers_ && value.is_number();
      some_numbers_ = some_numbers_ || value.is_number();
    }
  }

  void add(std::vector<VariableColumn>& out, const StoredPlan& plan,
           std::span<const StoredCell> cells) const {
    const std::string name = param_name(leaf_);
    if (flags_) {
      add_numbers(out, name, DataType::Int8, plan, cells);
    } else if (integers_) {
      add_integers(out, name, plan, cells);
    } else if (numbers_) {
      add_numbers(out, name, DataType::Float64, plan, cells);
    } else {
      std::vector<std::string> texts;
      for (const StoredCell& cell : cells) texts.push_back(text(of(plan, cell)));
      out.push_back(text_column(name, {"cell"}, texts));
      annotate(out.back(), "");
      if (some_numbers_) add_numbers(out, name + "_number", DataType::Float64, plan, cells);
    }
  }

 private:
  const Value& of(const StoredPlan& plan, const StoredCell& cell) const {
    static const Value kAbsent;
    if (const Value* varying = find_key(cell.varying, leaf_)) return *varying;
    const Value* constant = find_key(plan.constant, leaf_);
    return constant == nullptr ? kAbsent : *constant;
  }

  static std::string text(const Value& value) {
    if (value.is_null()) return {};
    const auto* word = value.get_if<std::string>();
    return word != nullptr ? *word : canonical_json(value);
  }

  static double number(const Value& value) {
    if (value.is_number()) return value.number();
    const bool* flag = value.get_if<bool>();
    return flag == nullptr ? kNaN : static_cast<double>(*flag);
  }

  void add_numbers(std::vector<VariableColumn>& out, const std::string& name, DataType type,
                   const StoredPlan& plan, std::span<const StoredCell> cells) const {
    std::vector<double> values;
    for (const StoredCell& cell : cells) values.push_back(number(of(plan, cell)));
    out.push_back(number_column(name, {"cell"}, type, values));
    annotate(out.back(), name.ends_with("_number") ? ", as a number" : "");
  }

  void add_integers(std::vector<VariableColumn>& out, const std::string& name,
                    const StoredPlan& plan, std::span<const StoredCell> cells) const {
    std::vector<std::int64_t> values;
    for (const StoredCell& cell : cells) {
      const auto* value = of(plan, cell).get_if<std::int64_t>();
      values.push_back(value == nullptr ? -1 : *value);
    }
    out.push_back(integer_column(name, {"cell"}, DataType::Int64, values));
    annotate(out.back(), "");
  }

  void annotate(VariableColumn& column, const std::string& suffix) const {
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
    if (row < schema().size()) column.attributes.emplace_back("leaf_class", class_name(row));
    if (column.type == DataType::Int8) {
      column.attributes.emplace_back("flag_values", std::vector<std::int8_t>{0, 1});
      column.attributes.emplace_back("flag_meanings", std::string("false true"));
    }
  }

  /// Readers of the file need not know that some alternatives of a leaf decide about fusion.
  static std::string class_name(std::size_t row) {
    const LeafClass leaf_class = schema()[row].leaf_class;
    return std::string(
        name_of(leaf_class == LeafClass::PerCellUnion ? LeafClass::PerCell : leaf_class));
  }

  std::string leaf_;
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

std::string param_name(std::string_view leaf) {
  std::string out = "param_" + std::string(leaf);
  std::ranges::replace(out, '.', '_');
  return out;
}

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
  out.push_back(numbers_of("param_seed", cells, &StoredCell::seed));
  out.back().attributes.emplace_back("leaf", std::string("seed"));
  out.back().attributes.emplace_back("leaf_class", std::string("PerCell"));
  out.push_back(numbers_of("param_data_seed", cells, &StoredCell::data_seed));
  out.back().attributes.emplace_back("leaf", std::string("data.seed"));
  out.back().attributes.emplace_back("leaf_class", std::string("PerCell"));
  std::vector<std::string> leaves = {"model.family"};
  if (!plan.cells.empty()) {
    for (const auto& [leaf, value] : plan.cells.front().varying) {
      if (find_leaf(leaf) == schema().size()) continue;  // stands beside the leaves
      if (leaf != "seed" && leaf != "data.seed" && leaf != "model.family") leaves.push_back(leaf);
    }
  }
  for (const std::string& leaf : leaves) LeafColumn(leaf, plan).add(out, plan, cells);
  return out;
}

std::string coordinate_names(std::span<const VariableColumn> identity) {
  std::string out;
  for (const VariableColumn& column : identity) {
    if (column.name == "cell") continue;  // the axis itself
    out += (out.empty() ? "" : " ") + column.name;
  }
  return out;
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
