#include "core/data/labels/label_table.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"

namespace depthgrid {
namespace label_table_test {

using Numbers = std::vector<double>;
using Flags = std::vector<std::int8_t>;

Attribute attribute(const Numbers& scores, double threshold = 0) {
  return {"long", AttributeKind::Ordinal, threshold, RankTable(scores)};
}

TEST(RankTable, TiesShareTheMiddleOfTheirRanks) {
  const RankTable table(Numbers{2, 3, 1, 2});
  EXPECT_EQ(table.rank(1), 0.125);
  EXPECT_EQ(table.rank(2), 0.5);
  EXPECT_EQ(table.rank(3), 0.875);
  EXPECT_EQ(table.size(), 4);
  EXPECT_EQ(table.values(), (Numbers{1, 2, 3}));
  EXPECT_EQ(table.cumulative(), (std::vector<std::int64_t>{1, 3, 4}));
}

TEST(RankTable, AScoreNeverSeenHasTheShareBelow) {
  const RankTable table(Numbers{1, 2, 2, 3});
  EXPECT_EQ(table.rank(0), 0);
  EXPECT_EQ(table.rank(2.5), 0.75);
  EXPECT_EQ(table.rank(9), 1);
}

TEST(RankTable, EqualScoresAreInTheMiddleExactly) {
  const RankTable table(Numbers(7, 0.3));
  EXPECT_EQ(table.rank(0.3), 0.5);
  EXPECT_EQ(label_value(attribute(Numbers(7, 0.3)), LabelMap::Rank, 0.3), 0);
}

TEST(RankTable, MedianIsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(RankTable(Numbers{5, 1, 3}).median(), 3);
  EXPECT_EQ(RankTable(Numbers{10, 1, 3, 2}).median(), 2.5);
  EXPECT_EQ(RankTable(Numbers{4, 4, 4, 9}).median(), 4);
  EXPECT_EQ(RankTable(Numbers{7}).median(), 7);
}

TEST(RankTable, WhatIsNoNumberIsNoScore) {
  const RankTable table(Numbers{kNaN, 1, kNaN, 2});
  EXPECT_EQ(table.size(), 2);
  EXPECT_EQ(table.rank(2), 0.75);
  EXPECT_TRUE(std::isnan(table.rank(kNaN)));
  const RankTable none(Numbers{kNaN});
  EXPECT_EQ(none.size(), 0);
  EXPECT_TRUE(std::isnan(none.rank(1)));
  EXPECT_TRUE(std::isnan(none.median()));
}

TEST(LabelMap, ScoresBecomeValuesByTheirMap) {
  const Attribute ranked = attribute({0, 1, 1, 2}, 1);
  EXPECT_EQ(label_value(ranked, LabelMap::Rank, 0), -0.75);
  EXPECT_EQ(label_value(ranked, LabelMap::Rank, 1), 0);
  EXPECT_EQ(label_value(ranked, LabelMap::Sign, 1), -1) << "not above";
  EXPECT_EQ(label_value(ranked, LabelMap::Sign, 1.5), 1);
  EXPECT_EQ(label_value(ranked, LabelMap::Probability, 0.25), -0.5);
  EXPECT_THROW(label_value(ranked, LabelMap::Probability, 1.5), UserError);
  EXPECT_EQ(positive_flag(ranked, 1), 0);
  EXPECT_EQ(positive_flag(ranked, 2), 1);
}

TEST(LabelMap, WhatHasNoScoreOrNothingFittedIsUnlabelled) {
  const Attribute ranked = attribute({0, 1}, 0.5);
  const Attribute nothing = attribute({}, kNaN);
  for (const LabelMap map : {LabelMap::Rank, LabelMap::Sign, LabelMap::Probability}) {
    EXPECT_TRUE(std::isnan(label_value(ranked, map, kNaN)));
  }
  EXPECT_TRUE(std::isnan(label_value(nothing, LabelMap::Rank, 1)));
  EXPECT_TRUE(std::isnan(label_value(nothing, LabelMap::Sign, 1)));
  EXPECT_EQ(positive_flag(ranked, kNaN), -1);
  EXPECT_EQ(positive_flag(nothing, 1), -1);
}

TEST(LabelMap, HasTheWordsOfItsLeaf) {
  EXPECT_EQ(label_map("rank"), LabelMap::Rank);
  EXPECT_EQ(label_map("sign"), LabelMap::Sign);
  EXPECT_EQ(label_map("probability"), LabelMap::Probability);
  EXPECT_THROW(label_map("logit"), Error);
  EXPECT_EQ(default_map(AttributeKind::Ordinal), LabelMap::Rank);
  EXPECT_EQ(default_map(AttributeKind::Binary), LabelMap::Sign);
}

TEST(LabelTable, ComesBackFromJsonToTheBit) {
  const double tenth = 0.1, next = std::nextafter(tenth, 1);
  const Numbers scores = {tenth, next, 1.0 / 3, 5e-324, -1e300, 0.1 + 0.2, 25, 25};
  const Attribute kept = attribute(scores, 1.0 / 7);
  const std::string text = json_text(to_json(kept));
  const Attribute back = attribute_from_json(parse_ordered_json(text));
  EXPECT_EQ(back, kept) << text;
  EXPECT_EQ(back.ranks.rank(next), kept.ranks.rank(next));
  EXPECT_NE(back.ranks.rank(next), back.ranks.rank(tenth));
  EXPECT_EQ(json_text(to_json(back)), text);
  const Attribute nothing =
      attribute_from_json(parse_ordered_json(json_text(to_json(attribute({}, kNaN)))));
  EXPECT_TRUE(std::isnan(nothing.threshold));
  EXPECT_EQ(nothing.ranks, RankTable());
}

TEST(LabelTable, JsonThatIsNoAttributeIsRefused) {
  const auto read = [](const char* text) { return attribute_from_json(parse_ordered_json(text)); };
  const std::string head = R"({"name": "a", "kind": "ordinal", "threshold": 1, )";
  EXPECT_NO_THROW(read((head + R"("values": [1, 2], "cumulative": [1, 3]})").c_str()));
  for (const char* const tail :
       {R"("values": [2, 1], "cumulative": [1, 3]})", R"("values": [1, 2], "cumulative": [3, 3]})",
        R"("values": [1, 2], "cumulative": [0, 3]})", R"("values": [1, 2], "cumulative": [3]})",
        R"("values": [null], "cumulative": [3]})", R"("values": [1]})"}) {
    EXPECT_THROW(read((head + tail).c_str()), Error) << tail;
  }
  EXPECT_THROW(read(R"({"name": "a", "kind": "x", "threshold": 1, "values": [],)"
                    R"( "cumulative": []})"),
               Error);
  EXPECT_THROW(read("[]"), Error);
}

/// `times` sentences with the flags a and b.
void add(Flags& flags, int times, std::int8_t a, std::int8_t b) {
  for (int i = 0; i < times; ++i) flags.insert(flags.end(), {a, b});
}

TEST(LabelStatistics, ArePhiRateAndEntropyOfWhatIsLabelled) {
  Flags flags;
  add(flags, 3, 1, 1);
  add(flags, 1, 1, 0);
  add(flags, 2, 0, 1);
  add(flags, 4, 0, 0);
  const std::vector<Attribute> two = {attribute({1}, 25), attribute({1}, 0.05)};
  const LabelStatistics s = label_statistics(two, flags);
  EXPECT_EQ(s.sentences, 10);
  EXPECT_EQ(s.rate, (Numbers{0.4, 0.5}));
  EXPECT_EQ(s.threshold, (Numbers{25, 0.05}));
  EXPECT_NEAR(s.phi[0][1], 10 / std::sqrt(600.0), 1e-15);
  EXPECT_EQ(s.phi[1][0], s.phi[0][1]);
  EXPECT_EQ(s.phi[0][0], 1);
  EXPECT_NEAR(s.entropy[0], -0.4 * std::log(0.4) - 0.6 * std::log(0.6), 1e-15);
  EXPECT_NEAR(s.entropy[1], std::log(2.0), 1e-15);
  EXPECT_NEAR(s.total_entropy(), s.entropy[0] + s.entropy[1], 1e-15);

  add(flags, 5, -1, 1);
  add(flags, 6, -1, -1);
  const LabelStatistics more = label_statistics(two, flags);
  EXPECT_EQ(more.sentences, 15);
  EXPECT_EQ(more.rate[0], 0.4) << "of those that are labelled for it";
  EXPECT_EQ(more.rate[1], 10.0 / 15);
  EXPECT_EQ(more.phi[0][1], s.phi[0][1]) << "left out pairwise";
}

TEST(LabelStatistics, WhatDoesNotVaryOrIsNotLabelledHasNoPhi) {
  Flags flags;
  add(flags, 4, 1, -1);
  const std::vector<Attribute> two = {attribute({1}), attribute({1})};
  const LabelStatistics s = label_statistics(two, flags);
  EXPECT_EQ(s.rate[0], 1);
  EXPECT_EQ(s.entropy[0], 0);
  EXPECT_TRUE(std::isnan(s.phi[0][0]));
  EXPECT_TRUE(std::isnan(s.phi[0][1]));
  EXPECT_TRUE(std::isnan(s.rate[1]));
  EXPECT_TRUE(std::isnan(s.entropy[1]));
  EXPECT_EQ(s.total_entropy(), 0);
  EXPECT_EQ(s.sentences, 4);
  EXPECT_EQ(label_statistics({}, {}).sentences, 0);
  EXPECT_THROW(label_statistics(two, Flags{1}), Error);
}

TEST(LabelStatistics, OppositesHaveAPhiOfMinusOne) {
  Flags flags;
  add(flags, 3, 1, 0);
  add(flags, 3, 0, 1);
  const std::vector<Attribute> two = {attribute({1}), attribute({1})};
  EXPECT_NEAR(label_statistics(two, flags).phi[0][1], -1, 1e-15);
}

TEST(RankTable, HasTheEntropyOfItsDistribution) {
  const std::vector<double> scores = {1, 1, 2, 5};
  EXPECT_NEAR(RankTable(std::span<const double>(scores)).entropy(),
              -.5 * std::log(.5) - 2 * .25 * std::log(.25), 1e-12);
  const std::vector<double> same(7, 3.0);
  EXPECT_EQ(RankTable(std::span<const double>(same)).entropy(), 0);
}

}  // namespace label_table_test
}  // namespace depthgrid
