#include "worker/session/probe_tokens.hpp"

#include <span>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include "core/base/digest.hpp"

namespace depthgrid {
namespace probe_tokens_test {

/// Letters a ... d; of twenty tokens of the training text ten are d, five c, four b and one is a.
Dataset letters() {
  Dataset data;
  data.vocab_size = 4;
  std::vector<std::uint32_t> train;
  const int counts[] = {1, 4, 5, 10};
  for (std::uint32_t id = 0; id < 4; ++id) {
    for (int i = 0; i < counts[id]; ++i) train.push_back(id);
  }
  std::vector<std::uint32_t> dev;
  for (std::uint32_t i = 0; i < 400; ++i) dev.push_back((i * i + i / 3) % 4);
  data.streams[static_cast<std::size_t>(Split::Train)] = TokenStream::from_ids(train, 4, 0);
  data.streams[static_cast<std::size_t>(Split::Dev)] = TokenStream::from_ids(dev, 4, 0);
  return data;
}

CellConfig config(ValueMap more) {
  more.insert(more.end(), {{"data.seq_len", 8}, {"model.d_model", 16}, {"model.n_heads", 2}});
  return make_config(more);
}

TEST(ProbeTokens, AreWindowsOfTheSplitTheSameEveryTime) {
  const Dataset data = letters();
  const ProbeSet set = probe_tokens(config({}), data);
  EXPECT_EQ(set.sequences(), 128) << "1024 tokens in windows of 8";
  EXPECT_EQ(set.tokens(), 8);
  EXPECT_TRUE(at::equal(set.windows, probe_tokens(config({}), data).windows));
  const std::span all(set.windows.const_data_ptr<std::int64_t>(),
                      static_cast<std::size_t>(set.windows.numel()));
  EXPECT_EQ(probe_set_digest(config({}), data), hex(sha256(std::as_bytes(all))));
  EXPECT_NE(probe_set_digest(config({{"probes.set.seed", 1}}), data),
            probe_set_digest(config({}), data));
  EXPECT_FALSE(
      at::equal(set.windows, probe_tokens(config({{"probes.set.seed", 1}}), data).windows));
  // Each window is somewhere in the text.
  const TokenStream& dev = data.split(Split::Dev);
  const auto* ids = set.windows.const_data_ptr<std::int64_t>();
  for (std::int64_t s = 0; s < set.sequences(); ++s, ids += 9) {
    bool found = false;
    for (std::int64_t at = 0; at + 9 <= dev.size() && !found; ++at) {
      found = true;
      for (std::int64_t i = 0; i < 9; ++i) found = found && dev[at + i] == ids[i];
    }
    EXPECT_TRUE(found) << "window " << s;
  }
}

TEST(ProbeTokens, ClassesFollowTheFrequenciesOfTheTrainingText) {
  const CellConfig c = config(
      {{"probes.trajectory.token_classes", ValueList{"all", "first", "frequent", "rare", "space"}},
       {"probes.set.sequences", 16}});
  const ProbeSet set = probe_tokens(c, letters());
  ASSERT_EQ(set.classes.size(), 5U);
  const at::Tensor inputs = set.windows.narrow(1, 0, 8);
  EXPECT_TRUE(set.classes[0].member.all().item<bool>());
  EXPECT_EQ(set.classes[1].member.sum().item<std::int64_t>(), 16);
  EXPECT_TRUE(set.classes[1].member.select(1, 0).all().item<bool>());
  EXPECT_TRUE(at::equal(set.classes[2].member, inputs.eq(3))) << "half of the text is d";
  EXPECT_TRUE(at::equal(set.classes[3].member, inputs.eq(0)))
      << "a twentieth is a; with b, too many";
  EXPECT_FALSE(set.classes[4].member.any().item<bool>()) << "no tokeniser, no spaces";
}

TEST(ProbeTokens, ComeFromTheTrainingTextWhereTheSplitIsTooShort) {
  const ProbeSet set = probe_tokens(config({{"probes.set.split", "valid"}}), letters());
  EXPECT_EQ(set.windows.size(1), 9);
  EXPECT_EQ((set.windows.diff(1, 1) < 0).sum().item<std::int64_t>(), 0) << "that text is sorted";
}

}  // namespace probe_tokens_test
}  // namespace depthgrid
