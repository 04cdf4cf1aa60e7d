#include "sweeps/page/page_commands.hpp"

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"
#include "tests/sweeps/page/block_check.hpp"

namespace depthgrid {
namespace page_commands_test {

PageData asked() {
  PageQuery query;
  query.comparison.by = {"model.d_model", "train.lr"};
  query.comparison.baseline = "16,0.1";
  query.comparison.metric = "final_loss.valid";
  query.comparison.margin = 0.005;
  query.comparison.allowed = {"order", "code"};
  query.filter = "seed < 4";
  query.all_plans = true;
  GridCells cells({}, "/home/me/results/h mod");
  cells.grid(two_factors(), 5, two_factor_figure);
  cells.listing.sweep = "another name";
  return page_data(cells.listing, query, {});
}

TEST(PageCommands, NameTheStoreAndEveryOption) {
  const PageData data = asked();
  EXPECT_EQ(compare_command(data, {}),
            "depthgrid compare 'h mod' --baseline 16,0.1 --metric final_loss.valid --margin 0.005 "
            "--allow order,code --filter 'seed < 4' --all-plans");
  EXPECT_EQ(compare_command(data, {"model.d_model", "train.lr"}),
            "depthgrid compare 'h mod' --by model.d_model,train.lr --metric final_loss.valid "
            "--margin 0.005 --allow order,code --filter 'seed < 4' --all-plans")
      << "the baseline is an arm";
  EXPECT_EQ(compare_command(data, {}, "--target 2.5"),
            "depthgrid compare 'h mod' --target 2.5 --baseline 16,0.1 --metric final_loss.valid "
            "--allow order,code --filter 'seed < 4' --all-plans")
      << "the margin is none of steps";
  EXPECT_EQ(picture_command(data),
            "depthgrid report 'h mod' --by model.d_model,train.lr --baseline 16,0.1 --metric "
            "final_loss.valid --margin 0.005 --allow order,code --filter 'seed < 4' --all-plans "
            "--format svg -o pictures");
}

TEST(PageCommands, ThereIsOneForEachStoreWhereAVerbTakesOne) {
  PageData data = asked();
  data.query = {};
  data.stores = {"a", "b"};
  EXPECT_EQ(results_command(data, {"arm", "seed"}),
            "depthgrid results a --columns arm,seed --csv; depthgrid results b --columns arm,seed "
            "--csv");
  EXPECT_EQ(compare_command(data, {}), "depthgrid compare a b");
}

TEST(PageCommands, AGoalIsTheirsToo) {
  PageData data = asked();
  data.query = {};
  data.query.comparison.goal = "maximize";
  EXPECT_EQ(compare_command(data, {}), "depthgrid compare 'h mod' --goal maximize");
  EXPECT_EQ(picture_command(data),
            "depthgrid report 'h mod' --goal maximize --format svg -o pictures");
}

TEST(PageCommands, AGoalThatIsAskedForDecidesWhatIsBetter) {
  PageQuery query;
  query.comparison.goal = "maximize";
  GridCells cells;
  cells.grid(two_factors(), 5, two_factor_figure);
  EXPECT_TRUE(contains(words_of(answer_section(page_data(cells.listing, query, {}))),
                       "final_loss.valid in nat: higher is better."));
}

TEST(PageCommands, EveryPictureHasOne) {
  const PageData data = asked();
  EXPECT_EQ(data.rows.size(), 24U) << "the filter counts";
  std::size_t charts = 0;
  for (const PagePart& part : page_parts(data)) {
    for (const PageBlock& block : part.blocks) {
      const auto* const chart = std::get_if<PageChart>(&block);
      if (chart == nullptr) continue;
      ++charts;
      EXPECT_TRUE(chart->command.starts_with("depthgrid ")) << chart->id;
      EXPECT_TRUE(contains(chart->command, "'h mod'")) << chart->command;
      EXPECT_FALSE(contains(chart->command, "/home")) << chart->command;
    }
  }
  EXPECT_GE(charts, 5U);
}

}  // namespace page_commands_test
}  // namespace depthgrid
