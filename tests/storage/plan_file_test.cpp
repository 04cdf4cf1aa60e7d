#include "storage/plan_file.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/columns/param_columns.hpp"
#include "storage/plan_sequence.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace plan_file_test {

const VariableColumn& named(const std::vector<VariableColumn>& columns, std::string_view name) {
  for (const VariableColumn& column : columns) {
    if (column.name == name) return column;
  }
  throw Error("no column " + std::string(name));
}

bool has(const std::vector<VariableColumn>& columns, std::string_view name) {
  return std::ranges::find(columns, name, &VariableColumn::name) != columns.end();
}

std::string attribute(const VariableColumn& column, std::string_view name) {
  for (const auto& [key, value] : column.attributes) {
    if (key == name) return std::get<std::string>(value);
  }
  return {};
}

/// One leaf; GCC 12 mistakes braced lists of values for uninitialised memory.
ValueMap leaf(const std::string& path, const char* json) {
  ValueMap out;
  out.emplace_back(path, value_from_json(json));
  return out;
}

TEST(PlanFile, ReadsBackEveryCellWithoutTheYaml) {
  const TemporaryFolder folder;
  Store store = Store::open_or_create(folder.path() / "s");
  Sweep sweep = synthetic_sweep({1e-4, 1.0}, 2);
  sweep.cells[3].tag = "control";
  publish_plan(store, sweep);
  std::filesystem::remove(store.sweep_yaml());

  const StoredPlan plan = read_plan(store);

  ASSERT_EQ(plan.cells.size(), 4U);
  EXPECT_EQ(plan.name, "synthetic");
  EXPECT_EQ(plan.yaml, "name: synthetic\n");
  EXPECT_EQ(plan.metric, "eval_loss.valid");
  EXPECT_EQ(plan.seeds, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    const CellPlan& planned = sweep.cells[i];
    const StoredCell& cell = plan.cells[i];
    EXPECT_EQ(cell.id, planned.id);
    EXPECT_EQ(cell.alias, planned.alias);
    EXPECT_EQ(cell.seed, planned.seed);
    EXPECT_EQ(cell.data_seed, planned.seed);
    EXPECT_EQ(cell.baseline, planned.baseline);
    EXPECT_EQ(cell.structure, planned.structure);
    EXPECT_EQ(cell.overrides, planned.overrides);
    EXPECT_EQ(resolved_json(plan, cell), planned.config.json());
    EXPECT_EQ(resolved_config(plan, cell).json(), planned.config.json());
  }
  EXPECT_EQ(plan.cells[3].tag, "control");
  EXPECT_NE(plan.cells[3].overrides[0].second.get_if<double>(), nullptr) << "a real stays a real";
}

TEST(ParamColumns, HoldWhatVariesAndSeedsAndFamilyAlways) {
  const StoredPlan plan = stored_plan(synthetic_sweep({1e-4, 1e-3}));

  const std::vector<VariableColumn> columns = identity_columns(plan, plan.cells);

  EXPECT_EQ(named(columns, "param_train_lr").number(1), 1e-3);
  EXPECT_EQ(attribute(named(columns, "param_train_lr"), "leaf"), "train.lr");
  EXPECT_EQ(attribute(named(columns, "param_train_lr"), "leaf_class"), "PerCell");
  EXPECT_EQ(named(columns, "param_seed").integer(0), 0);
  EXPECT_EQ(named(columns, "param_data_seed").type, DataType::Int64);
  EXPECT_EQ(named(columns, "param_model_family").text(0), "standard");
  EXPECT_FALSE(has(columns, "param_train_steps"));
  EXPECT_EQ(find_key(plan.constant, "train.lr"), nullptr);
}

TEST(ParamColumns, ALeafThatFollowsFromOthersHasNoColumnAndOneThatACellDoesNotReadNoValue) {
  Sweep sweep = synthetic_sweep({1e-4, 1e-3});
  // The start's spread follows from the number of layers; only the second cell reads n_layers.
  sweep.cells[1].config = make_config(leaf("model.n_layers", "4"));
  sweep.cells[1].overrides = leaf("model.n_layers", "4");
  const StoredPlan plan = stored_plan(sweep);

  const std::vector<VariableColumn> columns = identity_columns(plan, plan.cells);

  std::vector<std::string> params;
  for (const VariableColumn& column : columns) {
    if (column.name.starts_with("param_")) params.push_back(column.name);
  }
  EXPECT_EQ(params, (std::vector<std::string>{"param_seed", "param_data_seed", "param_model_family",
                                              "param_model_n_layers", "param_train_lr"}));
  EXPECT_EQ(named(columns, "param_model_n_layers").integer(0), -1);
  EXPECT_EQ(named(columns, "param_model_n_layers").integer(1), 4);
  EXPECT_TRUE(std::isnan(named(columns, "param_train_lr").number(1)));
  const std::string coordinates = coordinate_names(columns);
  EXPECT_NE(coordinates.find("param_seed"), std::string::npos) << coordinates;
  EXPECT_EQ(coordinates.find("param_train_lr"), std::string::npos) << coordinates;
}

TEST(ParamColumns, NumbersAndWordsBecomeTextsBesideANumber) {
  Sweep sweep = synthetic_sweep({1e-4, 1e-3, 1e-2});
  ValueMap four_layers = leaf("model.n_layers", "4");
  four_layers.emplace_back("model.residual.scale", value_from_json(R"("1/L")"));
  sweep.cells[1].config = make_config(four_layers);
  sweep.cells[2].config = make_config(leaf("model.residual.scale", R"("learned")"));
  for (CellPlan& cell : sweep.cells) {
    for (const char* path : {"model.n_layers", "model.residual.scale"}) {
      cell.overrides.emplace_back(path, cell.config.at(path));
    }
    sort_map(cell.overrides);
  }
  const StoredPlan plan = stored_plan(sweep);

  const std::vector<VariableColumn> columns = identity_columns(plan, plan.cells);

  const VariableColumn& text = named(columns, "param_model_residual_scale");
  const VariableColumn& number = named(columns, "param_model_residual_scale_number");
  EXPECT_EQ(text.text(0), "1");
  EXPECT_EQ(text.text(1), "0.25") << "1/L of four layers";
  EXPECT_EQ(text.text(2), "learned");
  EXPECT_EQ(number.number(0), 1.0);
  EXPECT_EQ(number.number(1), 0.25);
  EXPECT_TRUE(std::isnan(number.number(2)));
  EXPECT_EQ(named(columns, "param_model_n_layers").type, DataType::Int64);
}

TEST(PlanFile, ConfigurationsThatNameFilesOrCellsHashAsTheyDidWhenPlanned) {
  const TemporaryFolder folder;
  const auto text = folder.write("text.txt", std::string(200, 'a'));
  const auto weights = folder.write("w.safetensors", "weights");
  const auto file = folder.write(
      "sweep.yaml", "data: {corpus: file, tokenizer: byte, path: " + text.string() +
                        "}\nmethod: list\ninclude:\n  - {tag: a}\n"
                        "  - {tag: b, model.init.from: arm:a}\n"
                        "  - {tag: c, model.init.from: " +
                        weights.string() + "}\n  - {tag: d, data.corpus: synthetic:markov}\n");
  const Sweep sweep = load_sweep({file, {}, false});
  Store store = Store::open_or_create(folder.path() / "s");
  publish_plan(store, sweep);
  for (const auto& gone : {text, weights}) std::filesystem::remove(gone);

  const StoredPlan plan = read_plan(store);

  ASSERT_EQ(plan.cells.size(), sweep.cells.size());
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const CellConfig config = resolved_config(plan, plan.cells[i]);
    EXPECT_EQ(cell_id(config), sweep.cells[i].id) << plan.cells[i].alias;
    EXPECT_EQ(config.json(), sweep.cells[i].config.json()) << plan.cells[i].alias;
    EXPECT_EQ(canonical_json(Value(config.changed())), plan.cells[i].changed);
  }
  for (const VariableColumn& column : identity_columns(plan, plan.cells)) {
    EXPECT_EQ(column.name.find('@'), std::string::npos) << column.name;
  }
}

}  // namespace plan_file_test
}  // namespace depthgrid
