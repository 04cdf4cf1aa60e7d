#include "models/cost_model.hpp"

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "models/model.hpp"
#include "tests/support/model_cases.hpp"

namespace depthgrid::testing {
namespace cost_model_test {

ModelOptions preset(const char* name) {
  const CellConfig config = make_config({{"model.preset", name}});
  return model_options({&config});
}

std::int64_t effective(const ModelOptions& o) {
  ParameterLayout layout;
  Model(layout, o);
  return effective_parameters(o, layout);
}

TEST(CostModel, APlainGptIsItsProducts) {
  const double d = 256, t = 128, layers = 6, v = 256;

  EXPECT_EQ(flops_per_token(preset("gpt"), 8, 128),
            2 * (layers * (12 * d * d + 2 * t * d) + v * d));
}

TEST(CostModel, GeneratingIsSharedOutAmongTheTokensOfAPass) {
  const double plain = flops_per_token(preset("gpt"), 8, 128);
  const ModelOptions tong = preset("published/tong");
  const double entries = 12 * 256 * 256 + 9 * 256;  // of one depth; six of them, 64 products each

  EXPECT_DOUBLE_EQ(flops_per_token(tong, 8, 128) - plain, 2.0 * 6 * 64 * entries / 1024);
  EXPECT_DOUBLE_EQ(flops_per_token(tong, 16, 128) - plain, 2.0 * 6 * 64 * entries / 2048);
  EXPECT_DOUBLE_EQ(flops_per_token(preset("published/standard"), 8, 128),
                   flops_per_token(tong, 8, 128));
}

TEST(CostModel, ActivationsOfTongHoldItsWeightsOnce) {
  const ModelOptions tong = preset("published/tong");
  const double one = activation_bytes(tong, 1, 128), two = activation_bytes(tong, 2, 128);
  const double weights = 4.0 * 2 * 6 * (12 * 256 * 256 + 9 * 256);

  EXPECT_DOUBLE_EQ(2 * one - two, weights);
}

TEST(CostModel, TheUnrolledNetworkOfGeneratedWeightsIsAnOrdinaryOne) {
  ModelOptions tong = small_options("tong");
  ModelOptions plain = small_options("standard");
  plain.layers = tong.layers = 5;

  EXPECT_EQ(effective(tong), effective(plain));
  tong.hypernet.per_layer = true;
  EXPECT_EQ(effective(tong), effective(plain));
  tong.hypernet.per_layer = false;
  tong.hypernet.generate_bias = false;
  EXPECT_EQ(effective(tong), effective(plain));
}

TEST(CostModel, ASharedBlockCountsOnceALayer) {
  ModelOptions shared = small_options("time_indexed");
  shared.modulation.gate = GateKind::Constant;

  EXPECT_EQ(effective(shared), effective(small_options("standard")));
}

TEST(CostModel, SharedLayersUnrollToSeparateOnesAtTheSameCost) {
  const ModelOptions separate = small_options("standard");
  for (const Share share : {Share::All, Share::Attention, Share::FeedForward}) {
    ModelOptions shared = separate;
    shared.share = share;

    EXPECT_EQ(effective(shared), effective(separate));
    EXPECT_EQ(flops_per_token(shared, 4, 9), flops_per_token(separate, 4, 9));
    EXPECT_EQ(activation_bytes(shared, 4, 9), activation_bytes(separate, 4, 9));
  }
}

/// Forward operations a token of the sizes at which the second study times its models.
double timed(const char* kind, std::int64_t layers) {
  ModelOptions o = small_options(*kind == 0 ? "standard" : "hybrid_ode");
  o.width = 256;
  o.heads = 4;
  o.layers = layers;
  o.hidden = 1024;
  o.vocabulary = 33278;
  o.flow.first = 2;
  o.flow.last = *kind == 0 ? 2 : 4;
  o.solver.steps = 4;
  o.flow.hidden = 1024;
  if (std::string_view(kind) == "mlp") {
    with_mlp_field(o);
    o.flow.hidden = 512;
  }
  return flops_per_token(o, 32, 32);
}

TEST(CostModel, HybridsCostWhatTheSecondStudyCounts) {
  EXPECT_NEAR(timed("", 6), 26.67e6, 0.01 * 26.67e6);
  EXPECT_NEAR(timed("attention", 6), 29.88e6, 0.01 * 29.88e6);
  EXPECT_NEAR(timed("mlp", 6), 25.57e6, 0.01 * 25.57e6);
  EXPECT_NEAR(timed("", 4), 23.46e6, 0.01 * 23.46e6);
}

TEST(CostModel, AFlowCostsItsEvaluations) {
  ModelOptions o = small_options("hybrid_ode");
  const auto flow = [&](std::int64_t steps, std::string_view method) {
    o.solver.steps = steps;
    o.solver.method = &stepper(method);
    return flops_per_token(o, 2, 9);
  };
  const double one = flow(2, "euler") - flow(1, "euler");

  EXPECT_DOUBLE_EQ(flow(7, "euler") - flow(1, "euler"), 6 * one);
  EXPECT_DOUBLE_EQ(flow(2, "rk4"), flow(8, "euler"));
  EXPECT_DOUBLE_EQ(flow(3, "midpoint"), flow(6, "euler"));
}

TEST(CostModel, PartsOfAPassAddUpToIt) {
  ModelOptions o = small_options("hybrid_ode");
  o.solver.steps = 4;
  const ForwardFlops of = forward_flops(o, 2, 9);
  EXPECT_DOUBLE_EQ(of.layers + of.flow + of.readout, flops_per_token(o, 2, 9));
  EXPECT_DOUBLE_EQ(of.readout, 2 * 20 * 17);
  o.solver.steps = 8;
  EXPECT_DOUBLE_EQ(forward_flops(o, 2, 9).flow, 2 * of.flow);
  EXPECT_EQ(forward_flops(small_options("standard"), 2, 9).flow, 0);
}

TEST(CostModel, RegularisersCostWhatTheyEvaluate) {
  ModelOptions o = small_options("hybrid_ode");
  o.solver.steps = 4;
  const auto more = [&] { return recomputed_flops_per_token(o, 2, 9, flops_per_token(o, 2, 9)); };
  const double evaluation = forward_flops(o, 2, 9).flow / 4;
  with_regularisers(o, {Regulariser::Energy, Regulariser::Kinetic});
  EXPECT_EQ(more(), 0);
  with_regularisers(o, {Regulariser::Acceleration});
  EXPECT_DOUBLE_EQ(more(), 4 * 3 * evaluation);
  o.regularisers.terms.clear();
  with_regularisers(o, {Regulariser::LogNorm});  // one step of Lanczos: two pairs of products
  EXPECT_DOUBLE_EQ(more(), 4 * (1 + 4 + 3) * evaluation);
  const double plain = activation_bytes(o, 2, 9);
  o.regularisers.terms.clear();
  EXPECT_GT(plain, activation_bytes(o, 2, 9));
}

TEST(CostModel, ASolvedDepthCostsItsEvaluationsForwardAndAgain) {
  ModelOptions o = small_options("time_indexed");
  const double head = 2 * 20 * 17, layers = flops_per_token(o, 2, 12) - head;
  const auto again = [&] {
    return recomputed_flops_per_token(o, 2, 12, flops_per_token(o, 2, 12));
  };
  EXPECT_EQ(again(), 0);
  o.solver = {&stepper("rk4"), 6};  // 24 blocks in place of 3

  EXPECT_DOUBLE_EQ(flops_per_token(o, 2, 12) - head, 8 * layers);
  o.gradient.mode = GradientMode::Adjoint;
  EXPECT_DOUBLE_EQ(again(), 8 * layers);
  o.gradient = {GradientMode::Checkpoint, 6};
  EXPECT_DOUBLE_EQ(again(), 8 * layers) << "each step once more";
  EXPECT_DOUBLE_EQ(training_flops_per_token(o, 2, 12, 0), 3 * (8 * layers + head) + 8 * layers);
}

/// Products and attention of a block of small_options() over 12 tokens, and of all 3 with the head.
constexpr double kProducts = 2 * (4 * 20 * 20 + 2 * 20 * 28), kAttention = 4 * 12 * 20;
constexpr double kPlain = 3 * (kProducts + kAttention) + 2 * 20 * 17;

/// One cell of a skipping family with two dynamic layers of three.
ModelOptions skipping(const char* family, double capacity = 0.5) {
  ModelOptions o = small_options(family);
  o.routing.capacity = {capacity};
  return o;
}

double of_student(const ModelOptions& o) {
  return student_flops(o, 2, 12).at(capacity_share(o, 12, 0));
}

TEST(CostModel, AStudentOfFullCapacityIsThePlainModelAndWhatDecides) {
  const double router = 4 * 20, predictor = 2 * (20 * 10 + 10), gate = 2 * 20;

  EXPECT_EQ(flops_per_token(small_options("standard"), 2, 12), kPlain);
  EXPECT_EQ(flops_per_token(skipping("tdt"), 2, 12), kPlain);
  EXPECT_EQ(of_student(skipping("tdt", 1)), kPlain + 2 * router);
  EXPECT_EQ(flops_per_token(skipping("mod"), 2, 12), kPlain + 2 * gate);
  EXPECT_EQ(of_student(skipping("mod", 1)), kPlain + 2 * (gate + predictor));
  // A family without such layers is its own student.
  EXPECT_EQ(of_student(small_options("standard")), kPlain);
}

TEST(CostModel, LessCapacityTakesProductsInProportionAndAttentionByItsSquare) {
  for (const char* family : {"tdt", "mod"}) {
    const double full = of_student(skipping(family, 1));
    for (const double k : {0.0, 1.0, 3.0, 6.0, 9.0, 11.0}) {
      const double share = k / 12;
      const double saved = 2 * ((1 - share) * kProducts + (1 - share * share) * kAttention);
      EXPECT_NEAR(full - of_student(skipping(family, share)), saved, 1e-9) << family << ", " << k;
    }
    const StudentFlops student = student_flops(skipping(family), 2, 12);
    EXPECT_EQ(student.products, 2 * kProducts);
    EXPECT_EQ(student.attention, 2 * kAttention);
  }
}

TEST(CostModel, CapacityIsACellsNumberOfTokens) {
  ModelOptions o = small_options("tdt", 3);
  o.routing.capacity = {0.29, 0.01, 1};
  o.routing.min_k = {0, 1, 0};

  EXPECT_DOUBLE_EQ(capacity_share(o, 100, 0), 0.29);
  EXPECT_DOUBLE_EQ(capacity_share(o, 12, 0), 3.0 / 12);
  EXPECT_DOUBLE_EQ(capacity_share(o, 12, 1), 1.0 / 12);
  EXPECT_DOUBLE_EQ(capacity_share(o, 12, 2), 1);
  EXPECT_DOUBLE_EQ(capacity_share(small_options("standard"), 12, 0), 1);
}

TEST(CostModel, TrainingCostsWhatItComputes) {
  const auto training = [](const ModelOptions& o) { return training_flops_per_token(o, 2, 12, 0); };
  const double block = kProducts + kAttention, router = 4 * 20, network = 6 * 20 * 6;
  ModelOptions tdt = skipping("tdt");

  EXPECT_DOUBLE_EQ(training(small_options("standard")), 3 * kPlain);
  // Two passes of the dynamic layers, the teacher's without a graph.
  const double masked = 3 * (kPlain + 2 * (router + network)) + 2 * block;
  EXPECT_DOUBLE_EQ(training(tdt), masked);
  EXPECT_DOUBLE_EQ(training(skipping("tdt", 0.25)), masked) << "masks save nothing";
  tdt.routing.gathered = true;
  EXPECT_DOUBLE_EQ(masked - training(tdt), 3 * 2 * (kProducts / 2 + kAttention * 3 / 4));
  tdt.routing.gathered = false;
  tdt.tdt.tpn_detach_input = false;
  EXPECT_DOUBLE_EQ(training(tdt), masked + 2 * 2 * block);
  tdt.tdt.path = TrainPath::Dense;
  EXPECT_DOUBLE_EQ(training(tdt), masked - 2 * block);
  // Mixture-of-Depths has no teacher: its router ranks.
  const double predictor = 2 * (20 * 10 + 10), gate = 2 * 20;
  EXPECT_DOUBLE_EQ(training(skipping("mod")), 3 * (kPlain + 2 * (gate + predictor)));
}

TEST(CostModel, ASecantWithABiasTakesAPassMore) {
  const auto training = [](bool smooth, bool bias, double u) {
    ModelOptions o = small_options("hybrid_ode", 1);
    with_control(o, 3);
    o.control.bias = bias;
    o.control.constant = {{u, 0, 0}};
    if (smooth) with_regularisers(o, {Regulariser::ControlSmoothness});
    return training_flops_per_token(o, 2, 9, 0);
  };
  const double pass = training(true, false, 0) - training(false, false, 0);
  EXPECT_GT(pass, training(false, false, 0) / 2);
  EXPECT_DOUBLE_EQ(training(true, true, 0) - training(false, true, 0), 2 * pass);
  EXPECT_DOUBLE_EQ(training(true, true, 1) - training(false, true, 1), pass) << "u is given";
}

TEST(CostModel, ATiedBlockUnrollsToSeparateOnes) {
  ModelOptions tied = small_options("hybrid_ode");
  tied.flow.field = FieldKind::Block;  // two layers and one block, three times
  ModelOptions plain = small_options("standard");
  plain.layers = 5;

  EXPECT_EQ(effective(tied), effective(plain));
  EXPECT_DOUBLE_EQ(flops_per_token(tied, 2, 9), flops_per_token(plain, 2, 9));
  EXPECT_DOUBLE_EQ(activation_bytes(tied, 2, 9), activation_bytes(plain, 2, 9));
}

}  // namespace cost_model_test
}  // namespace depthgrid::testing
