#include "core/data/data_options.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "core/data/dataset.hpp"

namespace depthgrid {
namespace data_options_test {

TEST(DataOptions, FollowTheLeavesOfASyntheticSource) {
  const CellConfig config = make_config({{"data.corpus", "synthetic:markov"},
                                         {"data.seq_len", 32},
                                         {"data.synthetic.concentration", "uniform"},
                                         {"data.synthetic.tokens", 5000},
                                         {"data.synthetic.vocab_size", 16},
                                         {"data.train_tokens", 4000}});
  const DataOptions options = data_options(config);
  EXPECT_TRUE(options.is_synthetic());
  EXPECT_EQ(options.seq_len, 32);
  EXPECT_FALSE(options.synthetic.concentration.has_value());
  EXPECT_EQ(options.synthetic.tokens, 5000);
  EXPECT_EQ(options.train_tokens, 4000);
  EXPECT_EQ(options.model_vocab_size.value_or(16), 16);
  const Dataset data = open_dataset(options);
  EXPECT_EQ(data.train().size(), 4000);
  EXPECT_NEAR(data.entropy_rate.value(), std::log(16.0), 1e-12);
}

TEST(DataOptions, FollowTheLeavesOfATextCorpus) {
  const CellConfig config = make_config({{"data.corpus", "tiny-shakespeare"},
                                         {"data.path", "some/folder"},
                                         {"data.split", "published"},
                                         {"data.join", "published_2"},
                                         {"data.tokenizer", "word"},
                                         {"data.vocab_size", 500}});
  const DataOptions options = data_options(config);
  EXPECT_EQ(options.corpus, "tiny-shakespeare");
  ASSERT_EQ(options.paths.size(), 1U);
  EXPECT_EQ(options.paths[0].filename(), "folder");
  EXPECT_TRUE(options.published_split);
  EXPECT_TRUE(options.join_published_2);
  EXPECT_EQ(options.tokenizer, "word");
  EXPECT_EQ(options.word_vocab_size, 500);
  EXPECT_EQ(options.model_vocab_size.value_or(500), 500);
}

TEST(DataOptions, DefaultsAreThoseOfTheSchema) {
  const DataOptions read = data_options(CellConfig());
  const DataOptions plain;
  EXPECT_EQ(read.corpus, plain.corpus);
  EXPECT_EQ(read.tokenizer, plain.tokenizer);
  EXPECT_EQ(read.seq_len, plain.seq_len);
  EXPECT_EQ(read.dev_fraction, plain.dev_fraction);
  EXPECT_EQ(read.word_vocab_size, plain.word_vocab_size);
  EXPECT_EQ(read.text_key, plain.text_key);
  EXPECT_EQ(read.synthetic.tokens, plain.synthetic.tokens);
  EXPECT_EQ(read.synthetic.concentration, plain.synthetic.concentration);
  EXPECT_TRUE(read.paths.empty());
  EXPECT_FALSE(read.published_split);
}

}  // namespace data_options_test
}  // namespace depthgrid
