// Cells that start from cells: what is copied, what is drawn.
#include "worker/session/warm_start.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"
#include "sweeps/plan/start_check.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"
#include "worker/weights/safetensors.hpp"
#include "worker/weights/weight_places.hpp"

namespace depthgrid::testing {
namespace warm_start_test {

ModelOptions with_family(const std::string& family, std::int64_t cells = 1) {
  ModelOptions o = small_options(family, cells);
  if (family == "standard") o.positions = Positions::Rope;  // as tdt and mod have it
  if (o.routing.layers.empty() && family != "standard") with_routing(o);
  return o;
}

/// Names of the parameters of these groups, in the order of the layout.
std::vector<std::string> names_of(const ParameterLayout& layout,
                                  const std::set<std::string_view>& groups) {
  std::vector<std::string> out;
  for (const ParameterSlot& slot : layout.slots()) {
    if (groups.contains(name_of(slot.spec.group))) out.push_back(slot.spec.name);
  }
  return out;
}

struct Target {
  const char* family;
  std::set<std::string_view> added;
};

class DenseInto : public ::testing::TestWithParam<Target> {};

// A dense checkpoint in a skipping model lacks exactly the new modules, and holds nothing else.
TEST_P(DenseInto, LacksExactlyTheAddedModules) {
  const Built dense(with_family("standard"), {1});
  const Built skipping(with_family(GetParam().family), {2});
  const std::vector<std::string> added = names_of(skipping.arena->layout(), GetParam().added);
  ASSERT_FALSE(added.empty());

  const StartFit fit =
      start_fit(tensor_infos(dense.arena->layout()), tensor_infos(skipping.arena->layout()));
  EXPECT_EQ(fit.fresh, added);
  EXPECT_EQ(fit.problems, std::vector<std::string>());
  EXPECT_EQ(start_fit(tensor_infos(skipping.arena->layout()), tensor_infos(dense.arena->layout()))
                .problems.size(),
            added.size());

  // The same from a file, and what is not in it stays as it was drawn.
  const TemporaryFolder folder;
  const auto file = folder.path() / "dense.safetensors";
  write_safetensors(file, weights_of(*dense.arena, 0, native_places(dense.arena->layout())));
  const at::Tensor before = skipping.arena->values().clone();
  const auto fresh = load_weights(*skipping.arena, 0, native_places(skipping.arena->layout()),
                                  SafetensorsFile(file));
  EXPECT_EQ(fresh, added);
  for (const ParameterSlot& slot : skipping.arena->layout().slots()) {
    const bool is_added = std::ranges::find(added, slot.spec.name) != added.end();
    const at::Tensor now = slot_view(skipping.arena->values(), slot);
    const at::Tensor expected =
        is_added ? slot_view(before, slot)
                 : slot_view(dense.arena->values(), dense.arena->layout().find(slot.spec.name));
    EXPECT_TRUE(now.equal(expected)) << slot.spec.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, DenseInto,
                         ::testing::Values(Target{"tdt", {"tpn", "scalars", "router"}},
                                           Target{"mod", {"router", "predictor"}}),
                         [](const auto& p) { return std::string(p.param.family); });

class StartingCells : public ::testing::Test {
 protected:
  FinalWeights source(const CellPlan& cell, Built& from) const {
    FinalWeights out;
    out.cell.id = cell.id;
    out.cell.alias = cell.alias;
    out.step = 7;
    out.sha256 = std::string(64, 'f');
    out.layout = from.arena->layout();
    const at::Tensor row = from.arena->values()[0].contiguous();
    out.values.assign(row.const_data_ptr<float>(), row.const_data_ptr<float>() + row.numel());
    return out;
  }

  SweepFiles files_;
  Sweep sweep_ = files_.load(kPhases);
};

TEST_F(StartingCells, BeginWithTheWeightsOfTheirSourcesToTheBit) {
  const CellPlan& a0 = cell_named(sweep_, "a,s0");
  const CellPlan& a1 = cell_named(sweep_, "a,s1");
  Built from0(model_options({&a0.config}), {11}), from1(model_options({&a1.config}), {12});
  const std::vector<const CellConfig*> cells = {&cell_named(sweep_, "b,s1").config,
                                                &cell_named(sweep_, "c,s0").config,
                                                &cell_named(sweep_, "b,s0").config};
  const Built job(model_options(cells), {1, 2, 3});
  const at::Tensor drawn = job.arena->values().clone();

  const auto started = warm_start(cells, job.options, *job.arena, [&](const CellId& id) {
    return id == a0.id ? source(a0, from0) : source(a1, from1);
  });

  EXPECT_TRUE(job.arena->values()[0].equal(from1.arena->values()[0]));
  EXPECT_TRUE(job.arena->values()[1].equal(drawn[1]));
  EXPECT_TRUE(job.arena->values()[2].equal(from0.arena->values()[0]));
  EXPECT_EQ(started[0].line(), "a,s1 (" + a1.id + ") after 7 steps, weights ffffffffffff");
  EXPECT_EQ(started[1].line(), "");
}

constexpr const char* kControlled = R"(data: {corpus: synthetic:markov, seq_len: 9}
model: {family: hybrid_ode, d_model: 16, n_layers: 3, n_heads: 2}
method: list
include:
  - {tag: a}
  - {tag: b, model.control.dim: 2, model.control.neutral: bias, model.init.from: arm:a}
  - {tag: c, model.control.dim: 2, model.control.neutral: bias}
)";

// Whatever the signal, the cell is at first the model that it starts from.
TEST_F(StartingCells, BeginWithoutTheControlThatTheirSourceLacks) {
  const std::vector<std::string> controls = {"flow.control.weight", "flow.control.bias"};
  const Sweep sweep = files_.load(kControlled);
  const CellPlan& a = cell_named(sweep, "a,s0");
  Built from(model_options({&a.config}), {11});
  const CellConfig& b = cell_named(sweep, "b,s0").config;
  const CellConfig& c = cell_named(sweep, "c,s0").config;
  const auto expect_started = [&](const Built& job, std::int64_t e) {
    for (const ParameterSlot& slot : job.arena->layout().slots()) {
      const at::Tensor now = slot_view(job.arena->values(), slot)[e];
      if (slot.spec.group == ParameterGroup::Control) {
        EXPECT_EQ(now.count_nonzero().item<std::int64_t>(), 0) << slot.spec.name;
      } else {
        EXPECT_TRUE(now.equal(from.parameter(slot.spec.name)[0])) << slot.spec.name;
      }
    }
  };

  const Built job(model_options({&c, &b}), {1, 2});
  const at::Tensor drawn = job.arena->values().clone();
  for (const std::string& name : controls) {
    EXPECT_GT(job.parameter(name)[1].abs().max().item<double>(), 0) << name;
  }
  const auto started =
      warm_start({&c, &b}, job.options, *job.arena, [&](const CellId&) { return source(a, from); });
  expect_started(job, 1);
  EXPECT_TRUE(job.arena->values()[0].equal(drawn[0]));
  EXPECT_EQ(started[1].zeroed, controls);
  EXPECT_TRUE(started[1].fresh.empty());
  EXPECT_TRUE(started[1].line().ends_with(
      "; 2 parameters at zero: flow.control.weight, flow.control.bias"));

  // The same from a file.
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.safetensors";
  write_safetensors(file, weights_of(*from.arena, 0, native_places(from.arena->layout())));
  ValueMap leaves = {{"data.corpus", "synthetic:markov"},
                     {"data.seq_len", 9},
                     {"model.family", "hybrid_ode"},
                     {"model.d_model", 16},
                     {"model.n_layers", 3},
                     {"model.n_heads", 2},
                     {"model.control.dim", 2},
                     {"model.control.neutral", "bias"}};
  leaves.emplace_back("model.init.from", file.string());
  const CellConfig by_file = make_config(leaves);
  const Built again(model_options({&by_file}), {3});
  EXPECT_EQ(warm_start({&by_file}, again.options, *again.arena)[0].zeroed, controls);
  expect_started(again, 0);
}

// A map that text alone has never moved holds its draw; a signal begins at zero.
TEST_F(StartingCells, BeginASignalWithoutTheDrawsThatNoneHasTrained) {
  const Sweep sweep = files_.load(kControlled);
  const CellPlan& c = cell_named(sweep, "c,s0");
  Built from(model_options({&c.config}), {11});
  ModelOptions o = model_options({&c.config});
  for (const bool labelled : {false, true}) {
    for (const bool signalled : {false, true}) {
      o.control.labelled = labelled;
      const Built job(o, {1});
      const CellConfig& b = cell_named(sweep, "b,s0").config;
      const auto started = warm_start({&b}, o, *job.arena, [&](const CellId&) {
        FinalWeights weights = source(c, from);
        weights.signalled.assign(static_cast<std::size_t>(o.control.axes), signalled);
        return weights;
      });
      const bool cleared = labelled && !signalled;
      EXPECT_EQ(started[0].zeroed.size(), cleared ? 2U : 0U);
      const double most = job.parameter("flow.control.weight").abs().max().item<double>();
      EXPECT_EQ(most == 0, cleared);
    }
  }
}

// Of two axes, text was trained under the first alone.
TEST_F(StartingCells, KeepTheAxesThatASignalHasTrained) {
  const Sweep sweep = files_.load(kControlled);
  const CellPlan& c = cell_named(sweep, "c,s0");
  ModelOptions o = model_options({&c.config});
  ASSERT_EQ(o.control.axes, 2);
  Built from(o, {11});
  o.control.labelled = true;
  const Built job(o, {1});
  const CellConfig& b = cell_named(sweep, "b,s0").config;
  const auto started = warm_start({&b}, o, *job.arena, [&](const CellId&) {
    FinalWeights weights = source(c, from);
    weights.signalled = {true, false};
    return weights;
  });
  EXPECT_FALSE(started[0].zeroed.empty());
  const at::Tensor map = job.parameter("flow.control.weight");
  EXPECT_GT(map.select(-1, 0).abs().max().item<double>(), 0);
  EXPECT_EQ(map.select(-1, 1).abs().max().item<double>(), 0);
}

TEST(SignalledAxes, AreThoseOfLabelsOrOfAConstantSignalAlongAChainOfStarts) {
  const auto config = [](const ValueMap& more) {
    ValueMap leaves = {{"model.family", "hybrid_ode"},
                       {"model.replaced_layers", ValueList{0, 1}},
                       {"model.control.dim", 2}};
    leaves.insert(leaves.end(), more.begin(), more.end());
    sort_map(leaves);
    return make_config(leaves);
  };
  const CellConfig text = config({});
  const CellConfig first = config({{"model.control.u", ValueList{0.5, 0.0}}});
  const CellConfig after = config({{"model.init.from", "cell:first"}});
  const auto start = [&](const CellId& id) { return id == "first" ? first : text; };
  using Axes = std::vector<bool>;
  EXPECT_EQ(signalled_axes(text, start), (Axes{false, false}));
  EXPECT_EQ(signalled_axes(first, start), (Axes{true, false}));
  EXPECT_EQ(signalled_axes(after, start), (Axes{true, false})) << "another text phase";
  EXPECT_EQ(signalled_axes(config({{"model.init.from", "cell:text"}}), start),
            (Axes{false, false}));
}

TEST_F(StartingCells, RefuseWeightsOfAnotherShapeWithTheNames) {
  const CellPlan& a = cell_named(sweep_, "a,s0");
  Built from(small_options("standard"), {1});
  const CellConfig& b = cell_named(sweep_, "b,s0").config;
  const Built job(model_options({&b}), {1});
  try {
    warm_start({&b}, job.options, *job.arena, [&](const CellId&) { return source(a, from); });
    FAIL();
  } catch (const Error& problem) {
    const std::string said = problem.what();
    EXPECT_NE(said.find("unknown here: layers.2.attn.qkv.weight"), std::string::npos) << said;
    EXPECT_EQ(dynamic_cast<const UserError*>(&problem), nullptr) << "other cells are not concerned";
  }
}

}  // namespace warm_start_test
}  // namespace depthgrid::testing
