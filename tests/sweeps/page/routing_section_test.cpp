#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/page/page_data.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/report_page.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/probed_grid.hpp"
#include "tests/sweeps/picture/svg_check.hpp"

namespace depthgrid {
namespace routing_section_test {

/// Layers 0 and 1, of which the second skips all but the first and the third of eight tokens.
void add_mask(ProbedCell& cell, std::size_t) {
  cell.axis("probe_step", {5}).axis("layer", {0, 1}).axis("sequence_sample", {0});
  cell.axis("mask_byte", {0});
  cell.numbers("routing_mask", {kNaN, 0b101}).numbers("n_position", {8});
}

TEST(RoutingSection, AMapSaysWhichTokensALayerExecutes) {
  ProbedGrid grid(2, 2, add_mask);
  const PageBlocks blocks = routing_section(page_data(grid.listing(), {}, {}));
  const PageChart* const map = chart_named(blocks, "routing-map-1");
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->title, "Tokens that each layer executes: arm 1");
  EXPECT_TRUE(contains(map->alternative, "at step 5, seed 0, as the student chooses"));
  EXPECT_TRUE(contains(map->alternative, "layer 1 executes 2 of 8"));
  EXPECT_EQ(checked_svg(map->svg).fault, "");
  ASSERT_EQ(map->numbers.rows.size(), 8U);
  EXPECT_EQ(map->numbers.columns.size(), 2U) << "position and layer 1, no token";
  EXPECT_EQ(map->numbers.rows[2].at(1), "1");
  EXPECT_EQ(map->numbers.rows[3].at(1), "0");
  EXPECT_TRUE(contains(words_of(blocks), "--include tokens"));
}

/// The texts of tokens are on the page only if they were asked for, and then as text.
TEST(RoutingSection, TokensAreTextThatCannotBreakOut) {
  ProbedGrid grid(2, 1, add_mask);
  PageData data = page_data(grid.listing(), {}, {});
  data.include.tokens = true;
  data.probes.masks[0].tokens = {"canary", " ",  "</script>", "\xE2\x80\xAE",
                                 "\x01",   "\"", "&",         "a"};
  data.probes.no_tokens = "";
  const PageBlocks blocks = routing_section(data);
  const PageChart* const map = chart_named(blocks, "routing-map-0");
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(checked_svg(map->svg).fault, "");
  EXPECT_EQ(map->numbers.rows[2].at(1), "</script>") << "plain here, escaped by what writes it";
  const std::string page = report_page(data);
  EXPECT_TRUE(contains(page, "canary"));
  EXPECT_TRUE(contains(page, "&lt;/script&gt;"));
  EXPECT_EQ(occurrences(page, "</script>"), occurrences(page, "<script"));
  EXPECT_FALSE(contains(page, "\xE2\x80\xAE"));
  EXPECT_FALSE(contains(page, "\x01"));
  data.include.tokens = false;
  EXPECT_TRUE(contains(words_of(routing_section(data)), "--include tokens"));
}

TEST(TokenTexts, AreThoseOfTheSameProbeSetAlone) {
  ProbeSights sights;
  for (const char* set : {"a", "b"}) {
    TokenMask mask;
    mask.set_sha256 = set;
    mask.positions = 2;
    sights.masks.push_back({0, 0, mask});
  }
  const TokenTexts texts = parse_token_texts(
      R"({"schema":1,"probe_set_sha256":"a","sequences":[["The"," cat"],["x","y"]]})");
  add_token_texts(sights, texts);
  EXPECT_EQ(sights.masks[0].tokens, (std::vector<std::string>{"The", " cat"}));
  EXPECT_TRUE(sights.masks[1].tokens.empty());
  EXPECT_NE(sights.no_tokens, "");
  add_token_texts(sights, {"b", {"one"}});
  EXPECT_TRUE(sights.masks[1].tokens.empty()) << "of another length";
  add_token_texts(sights, {"b", {"one", "two"}});
  EXPECT_EQ(sights.no_tokens, "");
  EXPECT_EQ(sights.masks[0].tokens[0], "The");
  EXPECT_THROW(parse_token_texts("{}"), Error);
  EXPECT_THROW(parse_token_texts("usage:"), Error);
}

TEST(RoutingSection, WhyThereAreNoTokensIsSaid) {
  ProbedGrid grid(2, 1, add_mask);
  PageData data = page_data(grid.listing(), {}, {});
  data.include.tokens = true;
  data.probes.no_tokens = "the corpus has changed";
  EXPECT_TRUE(contains(words_of(routing_section(data)),
                       "Without the text of the tokens: the corpus has changed."));
}

TEST(RoutingSection, ALongSequenceIsCutAndItsNumbersAreNot) {
  ProbedGrid grid(2, 1, [](ProbedCell& cell, std::size_t) {
    cell.axis("probe_step", {5}).axis("layer", {0}).axis("sequence_sample", {0});
    std::vector<double> bytes(40, 255), numbers;
    for (int i = 0; i < 40; ++i) numbers.push_back(i);
    cell.axis("mask_byte", numbers).numbers("routing_mask", bytes);
  });
  const PageBlocks blocks = routing_section(page_data(grid.listing(), {}, {}));
  const PageChart* const map = chart_named(blocks, "routing-map-0");
  ASSERT_NE(map, nullptr);
  EXPECT_TRUE(contains(map->alternative, "its first 256 of 320 tokens"));
  EXPECT_EQ(checked_svg(map->svg).of_class("hit").size(), 256U);
  EXPECT_EQ(map->numbers.rows.size(), 320U);
}

TEST(RoutingSection, CapacityIsOfTheModeWhoseLossItIs) {
  ProbedGrid grid(3, 3, [](ProbedCell&, std::size_t) {});
  Listing& listing = grid.listing();
  for (std::size_t row = 0; row < 9; ++row) {
    auto& metrics = listing.cells[row].metrics;
    if (row < 3) metrics["final_executed_share.predictor"] = 0.25;
    if (row >= 3 && row < 6) {
      metrics["final_executed_share.student_calibrated"] = 0.5;
      metrics["final_executed_share.dense"] = 1;
    }  // arm 2 skips nothing
  }
  const PageBlocks blocks = routing_section(page_data(listing, {}, {}));
  const PageChart* const capacity = chart_named(blocks, "routing-capacity");
  ASSERT_NE(capacity, nullptr);
  ASSERT_EQ(capacity->numbers.rows.size(), 2U);
  EXPECT_EQ(capacity->numbers.rows[0].at(1), "0.25");
  EXPECT_EQ(capacity->numbers.rows[1].at(1), "0.5");
  const double mean = 2.01, half = 4.302652729749464 * 0.01 / std::sqrt(3.0);  // t of two degrees
  EXPECT_NEAR(std::stod(capacity->numbers.rows[0].at(2)), mean, 1e-12);
  EXPECT_NEAR(std::stod(capacity->numbers.rows[0].at(3)), mean - half, 1e-9);
  EXPECT_NEAR(std::stod(capacity->numbers.rows[0].at(4)), mean + half, 1e-9);
  EXPECT_EQ(checked_svg(capacity->svg).of_class("interval").size(), 2U);
  listing.constant = {{"model.tdt.decider", std::string("threshold")}};
  EXPECT_EQ(chart_named(routing_section(page_data(listing, {}, {})), "routing-capacity"), nullptr)
      << "one arm alone is no curve: of the other's own mode nothing is known";
}

}  // namespace routing_section_test
}  // namespace depthgrid
