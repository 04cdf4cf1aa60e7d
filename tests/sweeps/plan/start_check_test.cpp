#include "sweeps/plan/start_check.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/core/config/sweep_files.hpp"

namespace depthgrid {
namespace start_check_test {

using Names = std::vector<std::string>;

const std::vector<TensorInfo> kDense = {{"embedding.weight", {17, 8}, "embedding"},
                                        {"layers.0.mlp.up.weight", {32, 8}, "trunk"}};

std::vector<TensorInfo> with(std::vector<TensorInfo> tensors, TensorInfo more) {
  tensors.push_back(std::move(more));
  return tensors;
}

TEST(StartFit, AddedModulesMayBeMissingAndAreNamed) {
  const StartFit fit =
      start_fit(kDense, with(kDense, {"layers.0.router.weight", {1, 8}, "router"}));
  EXPECT_EQ(fit.fresh, Names{"layers.0.router.weight"});
  EXPECT_EQ(fit.problems, Names{});
  EXPECT_EQ(start_fit(kDense, kDense).fresh, Names{});
}

TEST(StartFit, EveryOtherDifferenceIsAProblem) {
  const std::vector<TensorInfo> more = with(kDense, {"head.weight", {17, 8}, "head"});
  EXPECT_EQ(start_fit(kDense, more).problems, Names{"missing there: head.weight (17 x 8)"});
  EXPECT_EQ(start_fit(more, kDense).problems, Names{"unknown here: head.weight"});
  std::vector<TensorInfo> wide = kDense;
  wide[1].shape = {64, 8};
  EXPECT_EQ(start_fit(kDense, wide).problems,
            Names{"layers.0.mlp.up.weight: 32 x 8 there, 64 x 8 here"});
  // What a router was trained with cannot be dropped in silence.
  EXPECT_EQ(start_fit(with(kDense, {"r", {1}, "router"}), kDense).problems,
            Names{"unknown here: r"});
}

TEST(StartFit, WhatTrainingAloneLearnedIsLeftBehind) {
  const std::vector<TensorInfo> told = with(kDense, {"contrast.scale", {1}, "control"});
  EXPECT_EQ(start_fit(told, kDense).problems, Names{});
  EXPECT_EQ(start_fit(kDense, told).fresh, Names{"contrast.scale"});
  const std::vector<TensorInfo> directed =
      with(kDense, {"regularisers.log_norm.direction", {4, 8}, "scalars"});
  EXPECT_TRUE(start_fit(directed, kDense).problems.empty()) << "left behind";
  EXPECT_TRUE(start_fit(kDense, directed).problems.empty()) << "drawn anew";
  EXPECT_EQ(start_fit(with(kDense, {"prefix.weight", {3, 8}, "control"}), kDense).problems,
            Names{"unknown here: prefix.weight"});
}

TEST(StartCheck, EachPairOfStructuresIsRefusedAtItsLine) {
  const SweepFiles files;
  const Sweep sweep = files.load(R"(data: {corpus: synthetic:markov}
model: {d_model: 16, n_layers: 2}
seeds: 2
include:
  - {tag: a}
  - {tag: good, train.lr: 1e-3, model.init.from: arm:a}
  - {tag: wide, model.d_model: 32, model.init.from: arm:a}
  - {tag: deep, model.n_layers: 3, model.init.from: arm:a}
)");
  TensorTable tensors;
  for (const CellPlan& cell : start_structures(sweep)) {
    tensors[cell.structure] = {{"w", {cell.config.integer("model.d_model")}, "trunk"}};
    if (cell.config.integer("model.n_layers") == 3) {
      tensors[cell.structure].push_back({"layers.2.w", {4}, "trunk"});
    }
  }
  EXPECT_EQ(tensors.size(), 4U);
  try {
    check_starts(sweep, tensors);
    FAIL();
  } catch (const SweepErrors& errors) {
    ASSERT_EQ(errors.diagnostics().size(), 2U);
    EXPECT_EQ(errors.diagnostics()[0].line, 7);
    EXPECT_NE(errors.diagnostics()[0].message.find("w: 16 there, 32 here"), std::string::npos);
    EXPECT_EQ(errors.diagnostics()[1].line, 8);
    EXPECT_NE(errors.diagnostics()[1].message.find("missing there: layers.2.w (4)"),
              std::string::npos);
    EXPECT_EQ(errors.code(), ExitCode::Usage);
  }
}

TEST(StartCheck, WithoutAWorkerThereIsANote) {
  const SweepFiles files;
  const Sweep sweep = files.load(
      "data: {corpus: synthetic:markov}\ninclude:\n  - {tag: a}\n"
      "  - {tag: b, train.lr: 1e-3, model.init.from: arm:a}\n");
  EXPECT_NE(check_starts(sweep, DescribeCache("absent", "")).find("not compared"),
            std::string::npos);
}

}  // namespace start_check_test
}  // namespace depthgrid
