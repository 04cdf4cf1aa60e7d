#include "sweeps/report/bits_per_byte.hpp"

#include <numbers>

#include <gtest/gtest.h>

#include "sweeps/compare/arms_report.hpp"
#include "sweeps/report/results_query.hpp"
#include "tests/sweeps/report/evaluated_arms.hpp"

namespace depthgrid {
namespace bits_per_byte_test {

/// One cell as releases recorded it that gave bits per byte of all tokens.
Listing recorded(const std::string& tokenizer, double bytes_per_token) {
  Listing out = evaluated_arms({{{"data.tokenizer", tokenizer}, {"model.vocab_size", 60000}}});
  const double bits = 2.0 / (bytes_per_token * std::numbers::ln2);
  out.cells[0].metrics = {{"final_loss.valid", 2.0},
                          {"final_bits_per_byte.valid", bits},
                          {"eval_loss.valid", 2.0F},
                          {"eval_bits_per_byte.valid", static_cast<float>(bits)}};
  withhold_bits_per_byte(out);
  return out;
}

bool given(const Listing& listing, const char* metric = "final_bits_per_byte.valid") {
  return listing.cells[0].metrics.contains(metric);
}

TEST(BitsPerByte, OfRecordedResultsStandWhereTheTokeniserKeepsEveryByte) {
  EXPECT_TRUE(given(recorded("byte", 1)));
  EXPECT_TRUE(given(recorded("gpt2", 4.3)));
  EXPECT_FALSE(given(recorded("word", 5.2)));
  EXPECT_FALSE(given(recorded("char", 1))) << "an unknown character may be ASCII";
  EXPECT_FALSE(given(recorded("char256", 1.0013))) << "é keeps its bytes, 中 does not";
  EXPECT_TRUE(given(recorded("char256", 1))) << "one byte for each token: ASCII";
  EXPECT_TRUE(given(recorded("char256", 1), "eval_bits_per_byte.valid")) << "in float32";
  EXPECT_FALSE(given(recorded("char256", 1.0013), "eval_bits_per_byte.valid"));
}

TEST(BitsPerByte, OfResultsThatTellAreAsTheyTell) {
  Listing listing = evaluated_arms({{{"data.tokenizer", "char256"}}});
  const auto again = [&listing](const std::map<std::string, double>& facts) {
    listing.cells[0].metrics = {{"final_loss.valid", 2.0}, {"final_bits_per_byte.valid", 2.88}};
    listing.cells[0].facts = facts;
    withhold_bits_per_byte(listing);
    return given(listing);
  };
  EXPECT_TRUE(again({{"split_digest.valid", 5}, {"split_bytes.valid", 1003}}));
  EXPECT_FALSE(again({{"split_digest.valid", 5}}));
}

TEST(BitsPerByte, AreNeitherShownNorSortedNorComparedWhereTheyAreWithheld) {
  const Listing listing = recorded("word", 5.2);
  const std::vector<std::string> names = query_names(listing);
  EXPECT_EQ(resolve_columns({"final_bits_per_byte.valid"}, names).size(), 1U)
      << "the name is known";
  EXPECT_EQ(csv_of(results_csv_table(listing, {0}, {"alias", "final_bits_per_byte.valid"})),
            "alias,final_bits_per_byte.valid\n\"arm0,s0\",\n");
  EXPECT_EQ(bits_per_byte_note(listing, {0}, {"final_bits_per_byte.valid"}),
            "no bits per byte of 1 cell: tokens of word do not keep every byte of this text, or "
            "are not known to (docs/comparing.md)\n");
  EXPECT_EQ(bits_per_byte_note(listing, {0}, {"final_loss.valid"}), "");
  const std::string json = results_json(listing, {0});
  EXPECT_EQ(json.find("\"final_bits_per_byte.valid\":"), std::string::npos) << json;
  EXPECT_NE(json.find("\"withheld\": [\n        \"eval_bits_per_byte.valid\""), std::string::npos)
      << json;
  const ArmComparison arms = compare_arms(listing, {0});
  EXPECT_EQ(arms.arms[0].metrics.at("final_bits_per_byte.valid").sample.n, 0U);
}

TEST(BitsPerByte, OfSyntheticSourcesWereNeverThere) {
  Listing listing = evaluated_arms({{{"data.corpus", "synthetic:markov"}}});
  listing.cells[0].metrics = {{"final_loss.valid", 2.0}};
  withhold_bits_per_byte(listing);
  EXPECT_TRUE(withheld_names(listing).empty());
}

}  // namespace bits_per_byte_test
}  // namespace depthgrid
