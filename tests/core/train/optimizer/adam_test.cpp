#include "core/train/optimizer/adam.hpp"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace adam_test {

constexpr std::int64_t kCount = 1999;  // no multiple of a vector or of a chunk

std::vector<float> waves(int kind) {
  std::vector<float> x(kCount);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i + 1) * kind));
  }
  return x;
}

TEST(Adam, EveryVariantOfTheInnerLoopsHasTheSameBits) {
  const AdamRates rates = adam_rates({.lr = 1e-3,
                                      .weight_decay = 0.1,
                                      .gradient_factor = 0.37,
                                      .step = 3,
                                      .own = {0.9, 0.99, 1e-8}},
                                     true);
  const auto run = [&](Isa isa) {
    std::vector<float> p = waves(1);
    std::vector<float> m = waves(2);
    std::vector<float> v = waves(3);
    std::vector<float> g = waves(4);
    for (float& x : v) x = std::abs(x);
    std::vector<std::uint16_t> shadow(kCount);
    const BlockSums sums =
        adam_update({p.data(), {m.data(), v.data()}, g.data(), shadow.data(), kCount}, rates, isa);
    return std::tuple(p, m, v, shadow, sums.update, sums.parameter);
  };
  const auto first = run(supported_isas().front());
  for (const Isa isa : supported_isas()) EXPECT_TRUE(run(isa) == first) << name_of(isa);
}

}  // namespace adam_test
}  // namespace depthgrid
