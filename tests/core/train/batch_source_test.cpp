#include "core/train/batch_source.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include <ATen/ops/equal.h>

namespace depthgrid {
namespace batch_source_test {

/// The stream 0, 1, 2, ...: a window's first id is its start.
TextBatches counting(const std::vector<std::uint64_t>& seeds) {
  std::vector<std::uint32_t> ids(1000);
  std::iota(ids.begin(), ids.end(), 0U);
  return {TokenStream::from_ids(ids, 65536, 0), Sampler(SamplerKind::Iid, 1000, 4, 6), seeds};
}

TEST(TextBatches, AreTheWindowsAtTheSamplersStarts) {
  std::vector<std::int64_t> starts(3);
  Sampler(SamplerKind::Iid, 1000, 4, 6).starts(7, 10, 2, starts);

  const Batch batch = counting({7, 7}).batch(11, 2, 3);

  ASSERT_EQ(batch.windows.sizes(), (at::IntArrayRef{2, 3, 5}));
  EXPECT_EQ(batch.step, 11);
  EXPECT_EQ(batch.first_row, 2);
  for (std::int64_t r = 0; r < 3; ++r) {
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(batch.windows[1][r][i].item<std::int64_t>(),
                starts[static_cast<std::size_t>(r)] + i);
    }
  }
}

TEST(TextBatches, CellsWithOneSeedShareTheirRowsAndOthersHaveTheirOwn) {
  const at::Tensor shared = counting({3, 3}).batch(1, 0, 6).windows;
  const at::Tensor own = counting({3, 4}).batch(1, 0, 6).windows;

  EXPECT_EQ(shared.stride(0), 0);
  EXPECT_TRUE(at::equal(own[0], shared[0]));
  EXPECT_FALSE(at::equal(own[1], shared[0]));
}

TEST(TextBatches, FirstStepsArePassedOverByEachCell) {
  std::vector<std::uint32_t> ids(1000);
  std::iota(ids.begin(), ids.end(), 0U);
  const TextBatches late(TokenStream::from_ids(ids, 65536, 0),
                         Sampler(SamplerKind::Iid, 1000, 4, 6), {3, 3}, {0, 20});

  EXPECT_TRUE(at::equal(late.batch(1, 0, 6).windows[0], counting({3}).batch(1, 0, 6).windows[0]));
  EXPECT_TRUE(at::equal(late.batch(1, 0, 6).windows[1], counting({3}).batch(21, 0, 6).windows[0]));
}

}  // namespace batch_source_test
}  // namespace depthgrid
