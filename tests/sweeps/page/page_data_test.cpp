#include "sweeps/page/page_data.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/page/report_page.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/evaluated_stores.hpp"

namespace depthgrid {
namespace page_data_test {

using Texts = std::vector<std::string>;

TEST(StoreNames, AreTheLastFoldersMadeUnique) {
  EXPECT_EQ(store_names({"results/grid", "/home/me/other/"}), (Texts{"grid", "other"}));
  EXPECT_EQ(store_names({"a/grid", "b/grid", "c"}), (Texts{"grid (1)", "grid (2)", "c"}));
  EXPECT_EQ(store_names({"x/../y/./grid"}), Texts{"grid"});
  EXPECT_NE(store_names({"."}).front(), ".");
}

/// Paths may be relative; by store they are the names of groups.
TEST(PageData, NoFolderOfAStoreIsOnThePage) {
  EvaluatedStores stores({"secret_folder_a", "b"});
  for (int seed = 0; seed < 4; ++seed) {
    stores.add(0, "gpt", seed, {0, 10}, {4, 3 + 0.01 * seed});
    stores.add(1, "gpt", seed, {0, 10}, {4, 2.9 + 0.02 * seed});
  }
  PageQuery query;
  query.comparison.by = {"store"};
  const PageData data = page_data(stores.cells.listing, query, {});
  EXPECT_EQ(data.title, "grid: secret_folder_a, b");
  const std::string parent = stores.store(0).root().parent_path().filename().string();
  const std::string page = report_page(data);
  EXPECT_FALSE(contains(page, parent)) << parent;
  EXPECT_TRUE(contains(page, "<h1>grid: secret_folder_a, b</h1>"));
  EXPECT_EQ(data.factors.effects.front().rows.at(0).group.name, "secret_folder_a");
  EXPECT_EQ(data.curves.lines.size(), 2U) << "they were read all the same";
}

TEST(PageData, AllFactorsAreOneFamilyAsInCompare) {
  const GridCells cells = two_factor_grid();
  const PageData data = page_data(cells.listing, {}, {});
  const Comparison wanted = cells.by({"model.d_model", "train.lr"});
  EXPECT_EQ(data.factors.family, 3U);
  ASSERT_EQ(data.factors.effects.size(), wanted.effects.size());
  for (const char* level : {"32", "64"}) {
    EXPECT_EQ(evidence_for(table_of(data.factors, "model.d_model"), level).holm,
              evidence_for(table_of(wanted, "model.d_model"), level).holm);
  }
}

}  // namespace page_data_test
}  // namespace depthgrid
