#include "core/train/optimizer/arena.hpp"

#include <gtest/gtest.h>

#include <torch/types.h>

#include "core/base/error.hpp"
#include "models/blocks/block_parameters.hpp"
#include "tests/support/model_cases.hpp"

namespace depthgrid {
namespace arena_test {

/// An affine map with the parameters NAME.weight and NAME.bias.
struct CellLinear : AffineMap {
  CellLinear(ParameterSource& source, const std::string& name, std::int64_t in, std::int64_t out)
      : AffineMap(affine_parameters(source, testing::small_options("standard"),
                                    {.name = name, .in = in, .out = out})) {}
  at::Tensor forward(const at::Tensor& x) const { return apply(*this, x); }
};

struct Pair {
  CellLinear first;
  CellLinear unused;
  explicit Pair(ParameterSource& s) : first(s, "first", 3, 4), unused(s, "unused", 4, 2) {}
};

Arena make_arena(const std::vector<std::uint64_t>& seeds) {
  ParameterLayout layout;
  const Pair counted(layout);
  return {layout, seeds, at::kFloat};
}

TEST(Arena, GradientsAccumulateInPlace) {
  Arena arena = make_arena({1, 2, 3});
  const Pair pair(arena);
  const void* const where = arena.gradients().data_ptr();
  const at::Tensor x = torch::ones({3, 2, 2, 3});

  pair.first.forward(x).sum().backward();
  const at::Tensor once = arena.gradients().clone();
  pair.first.forward(x).sum().backward();

  EXPECT_EQ(arena.gradients().data_ptr(), where);
  EXPECT_TRUE(torch::equal(arena.gradients(), 2 * once));
  EXPECT_TRUE(once.narrow(1, 0, 12).eq(4).all().item<bool>());   // weight: four rows of ones
  EXPECT_TRUE(once.narrow(1, 16, 10).eq(0).all().item<bool>());  // the unused keep their zeros
  EXPECT_TRUE(pair.first.weight.grad().is_alias_of(arena.gradients()));
}

TEST(Arena, WritingItMovesTheBlocksParameters) {
  Arena arena = make_arena({1});
  const Pair pair(arena);

  arena.values().zero_();

  EXPECT_TRUE(pair.first.weight.eq(0).all().item<bool>());
}

TEST(Arena, RefusesWhatTheLayoutDoesNotHave) {
  Arena arena = make_arena({1});

  EXPECT_THROW(CellLinear(arena, "first", 3, 5), Error);
  EXPECT_THROW(CellLinear(arena, "third", 3, 4), Error);
  ParameterLayout twice;
  const Pair once(twice);
  EXPECT_THROW(const Pair again(twice), Error);
}

TEST(Arena, StartDependsOnSeedAndNameAlone) {
  Arena together = make_arena({7, 8});
  const Pair both(together);
  ParameterLayout layout;
  const CellLinear other(layout, "other", 9, 9);
  const CellLinear first(layout, "first", 3, 4);
  Arena arena(layout, {8}, at::kFloat);

  const CellLinear alone(arena, "first", 3, 4);

  EXPECT_TRUE(torch::equal(both.first.weight[1], alone.weight[0]));
  EXPECT_FALSE(torch::equal(both.first.weight[0], alone.weight[0]));
}

TEST(Arena, KeepsABf16CopyOfFactorsWithFloatGradients) {
  ParameterLayout layout;
  const Pair counted(layout);
  Arena arena(layout, {1, 2}, at::kFloat, /*mixed=*/true);
  const Pair pair(arena);

  pair.first.forward(torch::ones({2, 2, 2, 3})).to(at::kFloat).sum().backward();

  EXPECT_EQ(pair.first.weight.scalar_type(), at::kBFloat16);
  EXPECT_EQ(pair.first.weight.grad().scalar_type(), at::kFloat);
  EXPECT_TRUE(torch::equal(pair.first.weight.flatten(1),
                           arena.values().narrow(1, 0, 12).to(at::kBFloat16)));
  EXPECT_TRUE(arena.gradients().narrow(1, 0, 12).eq(4).all().item<bool>());
  EXPECT_TRUE(pair.first.weight.grad().is_alias_of(arena.gradients()));
}

}  // namespace arena_test
}  // namespace depthgrid
