#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/evaluated_stores.hpp"

namespace depthgrid {
namespace stores_section_test {

/// Arm "b" is better than "a" in the first store and worse in the second one.
PageData two_stores() {
  EvaluatedStores stores({"narrow", "wide"});
  for (int seed = 0; seed < 5; ++seed) {
    const double noise = 0.001 * seed * seed;
    for (std::size_t store = 0; store < 2; ++store) {
      stores.add(store, "a", seed, {10}, {3.0 + 0.01 * seed});
      stores.add(store, "b", seed, {10}, {3.0 + 0.01 * seed + noise + (store == 0 ? -1 : 1)});
    }
  }
  stores.cells.baseline("a");
  for (std::size_t i = 0; i < stores.cells.listing.cells.size(); ++i) {
    const Value width(std::int64_t{stores.cells.listing.store_of_cell[i] == 0 ? 64 : 128});
    stores.cells.listing.cells[i].overrides = {{"model.d_model", width}};
  }
  stores.cells.listing.constant = {{"data.path", Value("/home/somebody/corpus.txt")},
                                   {"train.steps", Value(std::int64_t{10})}};
  return page_data(stores.cells.listing, {}, {});
}

TEST(StoresSection, WhatHoldsInOneStoreIsNotHiddenByTheOther) {
  const PageData data = two_stores();
  const std::string words = words_of(stores_section(data));
  EXPECT_TRUE(contains(words, "b differs from a by -0.99")) << words;
  EXPECT_TRUE(contains(words, "b differs from a by +1.0")) << words;
  EXPECT_TRUE(contains(words, "depthgrid compare wide")) << words;
  EXPECT_TRUE(contains(words_of(answer_section(data)), "below stands each store by itself"));
}

TEST(StoresSection, OfOneStoreThereIsNone) {
  EvaluatedStores stores({"grid"});
  stores.add(0, "a", 0, {10}, {3});
  EXPECT_TRUE(stores_section(page_data(stores.cells.listing, {}, {})).empty());
}

TEST(ProvenanceSection, SaysWhatAllCellsShareAndNoFolder) {
  std::string told;
  for (const PageBlock& block : provenance_section(two_stores())) {
    const auto* const table = std::get_if<PageTable>(&block);
    if (table == nullptr) continue;
    for (const auto& row : table->table.rows) told += row[0] + "=" + row[1] + "\n";
  }
  EXPECT_TRUE(contains(told, "train.steps=10\n")) << told;
  EXPECT_TRUE(contains(told, "data.path=…/corpus.txt\n")) << told;
  EXPECT_FALSE(contains(told, "somebody")) << told;
}

}  // namespace stores_section_test
}  // namespace depthgrid
