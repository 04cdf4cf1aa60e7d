#include <cmath>
#include <cstdio>
#include <optional>

#include <gtest/gtest.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>
#include <torch/types.h>

#include "core/base/reproducible_products.hpp"
#include "models/ops/host_kernels.hpp"
#include "tests/gpu/gpu_case.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace model_test {

constexpr std::int64_t kSteps = 20, kRows = 3, kTokens = 9;
constexpr double kTolerance = 1e-4;  // of a loss, relative
/// The same where tokens are chosen: rounding decides between two whose scores are nearly equal,
/// and a loss over 27 tokens moves by up to a hundredth. The first steps have no such pair.
constexpr double kOtherChoice = 0.02;
constexpr std::int64_t kSameChoices = 2;
/// bfloat16 has 8 bits; both sum in float32, in another order. There many scores are nearly equal.
constexpr double kHalves = 0.02, kOtherChoices = 0.1;
/// Of wide models, whose training amplifies rounding a hundredfold in twenty steps.
constexpr std::int64_t kFewSteps = 3;
/// Of the first cell: one for which no two scores of the first steps are nearly equal.
constexpr std::int64_t kSeed = 5;
/// Of LibTorch, for the device. The optimiser reads its report; losses and gradients wait for
/// nothing, since numbers of the host are queued (queued_tensor).
constexpr std::int64_t kWaitsOfOptimiser = 1;

/// One case per family, and what has operations of its own.
std::vector<ModelCase> plain_cases() {
  std::vector<ModelCase> out;
  for (const ModelCase& one : model_cases()) {
    if (one.name.ends_with("_plain") || one.name.ends_with("_plain_gathered")) out.push_back(one);
  }
  return out;
}

/// Counts the warnings of LibTorch about waits for the device.
class WaitCounter final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (warning.msg().find("synchronizing") != std::string::npos) ++waits;
  }
  std::int64_t waits = 0;
};

class ModelOnGpu : public GpuTest, public ::testing::WithParamInterface<ModelCase> {
 protected:
  struct Trained {
    at::Tensor losses;                                         // (steps, E) on the host
    at::Tensor values;                                         // (E, P) on the host
    std::int64_t waits_of_losses = 0, waits_of_optimiser = 0;  // of the last step
  };

  void SetUp() override {
    reproducible_products();
    GpuTest::SetUp();
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
    at::globalContext().setDeterministicFillUninitializedMemory(false);
  }
  void TearDown() override { at::globalContext().setDeterministicAlgorithms(false, false); }

  /// Trains cells first, first + 1, … together. A rehearsal takes the device's branches on the CPU.
  /// @param poison  a cell made NaN at the start, or -1.
  /// @param channels  of a head: attention has another implementation for those that are no
  ///                  multiple of 8.
  Trained train(bool on_device, bool mixed, std::int64_t first, std::int64_t cells,
                std::int64_t poison = -1, std::int64_t channels = 16) const {
    const at::Device device = on_device ? device_ : at::kCPU;
    std::optional<WithoutHostKernels> branches;
    if (on_device) branches.emplace();
    ModelOptions o = small_options(GetParam().family, cells);
    GetParam().change(o);
    o.width = o.heads * channels;
    // The same options for every cell: those of small_options differ by place.
    for (double& capacity : o.routing.capacity) capacity = 0.5;
    o.device = device;
    std::vector<std::uint64_t> seeds;
    for (std::int64_t e = 0; e < cells; ++e) seeds.push_back(static_cast<std::uint64_t>(first + e));
    ParameterLayout layout;
    Model(layout, o);
    Arena arena(std::move(layout), seeds, at::TensorOptions().dtype(at::kFloat).device(device),
                mixed);
    const Model model(arena, o);
    CellLanguageModel language(model, seeds);
    const TrainOptions t = small_training(std::vector<double>(seeds.size(), 1e-3),
                                          std::vector<double>(seeds.size(), 0.1));
    std::unique_ptr<DeviceKernels> own;
    if (on_device) {
      own = kernels(segment_table(arena.layout(), t), t.optimizer, t.clip_scope, cells);
    }
    CellOptimizer optimizer(arena, t, std::move(own));
    const std::vector<std::uint8_t> active(seeds.size(), 1);  // the kernels find the NaN themselves
    if (poison >= 0) {
      const at::NoGradGuard no_grad;
      arena.values().select(0, poison).fill_(std::nan(""));
    }
    Trained out;
    std::vector<at::Tensor> losses;
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      const at::Tensor n = torch::arange(kRows * (kTokens + 1), at::kLong);
      const at::Tensor ids = ((n * n * 5 + n * (10 + step) + 1) % o.vocabulary)
                                 .view({1, kRows, kTokens + 1})
                                 .expand({cells, kRows, kTokens + 1})
                                 .to(device);
      const at::Tensor scale = torch::full({cells}, 1.0 / (kRows * kTokens), device);
      out.waits_of_losses = counted([&] {
        const at::Tensor loss = language.losses({ids, step}).total;
        loss.backward(scale);
        losses.push_back(loss.detach());
      });
      out.waits_of_optimiser = counted([&] { optimizer.step(step, active); });
    }
    out.losses = torch::stack(losses).cpu().to(at::kDouble);
    out.values = arena.values().cpu();
    return out;
  }

  bool chooses_tokens() const { return !small_options(GetParam().family).routing.layers.empty(); }

  /// Number of waits for the device during `work`; LibTorch reports those that it makes.
  template <class Work>
  std::int64_t counted(const Work& work) const {
    if (device_.is_cpu()) {
      work();
      return 0;
    }
    WaitCounter counter;
    const c10::WarningUtils::WarningHandlerGuard guard(&counter);
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_WARN);
    work();
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
    return counter.waits;
  }

  static double distance(const at::Tensor& a, const at::Tensor& b) {
    return ((a - b).abs() / b.abs()).max().item<double>();
  }
};

TEST_P(ModelOnGpu, LossesAreThoseOfTheCpu) {
  const Trained cpu = train(false, false, kSeed, 2), gpu = train(true, false, kSeed, 2);
  const double off = distance(gpu.losses, cpu.losses);
  EXPECT_LT(off, chooses_tokens() ? kOtherChoice : kTolerance);
  EXPECT_LT(distance(gpu.losses.narrow(0, 0, kSameChoices), cpu.losses.narrow(0, 0, kSameChoices)),
            kTolerance);
  std::printf(
      "| %-28s | fp32 | %8.1e | waits: %3ld in losses and gradients, %2ld in the optimiser\n",
      GetParam().name.c_str(), off, static_cast<long>(gpu.waits_of_losses),
      static_cast<long>(gpu.waits_of_optimiser));
  EXPECT_EQ(gpu.waits_of_losses, 0);
  EXPECT_LE(gpu.waits_of_optimiser, kWaitsOfOptimiser);
}

TEST_P(ModelOnGpu, LossesOfWideHeadsAreThoseOfTheCpu) {
  for (const bool mixed : {false, true}) {
    const Trained cpu = train(false, mixed, kSeed, 2, -1, 64);
    const Trained gpu = train(true, mixed, kSeed, 2, -1, 64);
    const double off =
        distance(gpu.losses.narrow(0, 0, kFewSteps), cpu.losses.narrow(0, 0, kFewSteps));
    std::printf("| %-28s | %s | %8.1e | heads of 64 channels\n", GetParam().name.c_str(),
                mixed ? "bf16" : "fp32", off);
    const double choices = mixed ? kOtherChoices : kOtherChoice;
    EXPECT_LT(off, chooses_tokens() ? choices : mixed ? kHalves : kTolerance) << mixed;
  }
}

TEST_P(ModelOnGpu, LossesInBf16AreThoseOfTheCpu) {
  const Trained cpu = train(false, true, kSeed, 2), gpu = train(true, true, kSeed, 2);
  const double off = distance(gpu.losses, cpu.losses);
  std::printf("| %-28s | bf16 | %8.1e |\n", GetParam().name.c_str(), off);
  EXPECT_LT(off, chooses_tokens() ? kOtherChoices : kHalves);
  EXPECT_LT(distance(gpu.losses.narrow(0, 0, kFewSteps), cpu.losses.narrow(0, 0, kFewSteps)),
            kHalves);
}

TEST_P(ModelOnGpu, OneSevenAndThirtyTwoCellsAgree) {
  const Trained many = train(true, false, 3, 32);
  for (const std::int64_t cells : {1, 7}) {
    const Trained few = train(true, false, 3, cells);
    const at::Tensor same = many.losses.narrow(1, 0, cells);
    EXPECT_LT(distance(few.losses, same), chooses_tokens() ? kOtherChoice : kTolerance) << cells;
    EXPECT_LT(distance(few.losses.narrow(0, 0, kSameChoices), same.narrow(0, 0, kSameChoices)),
              kTolerance)
        << cells;
  }
}

TEST_P(ModelOnGpu, NeighboursOfANaNCellKeepTheirBits) {
  const Trained sound = train(true, false, 3, 3), poisoned = train(true, false, 3, 3, 1);
  EXPECT_TRUE(torch::equal(sound.values[0], poisoned.values[0]));
  EXPECT_TRUE(torch::equal(sound.values[2], poisoned.values[2]));
  EXPECT_TRUE(poisoned.values[1].isnan().all().item<bool>());
}

TEST_P(ModelOnGpu, TwoEqualRunsHaveTheSameBits) {
  EXPECT_TRUE(torch::equal(train(true, false, 3, 2).values, train(true, false, 3, 2).values));
}

INSTANTIATE_TEST_SUITE_P(Families, ModelOnGpu, ::testing::ValuesIn(plain_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace model_test
}  // namespace depthgrid::testing
