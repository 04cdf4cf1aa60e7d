#include "sweeps/report/csv_listing.hpp"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/report/listing_union.hpp"
#include "sweeps/report/results_query.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace csv_listing_test {

std::string refusal_of(const std::string& text) {
  try {
    csv_listing(text, "t.csv");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    return e.what();
  }
  return "nothing";
}

std::vector<std::size_t> rows_of(const Listing& listing) {
  return select_cells(listing, {});
}

std::string csv_of_listing(const Listing& listing) {
  return csv_of(results_csv_table(listing, rows_of(listing)));
}

/// Numbers and verdicts of a comparison, in full precision.
std::string numbers_of(const Listing& listing, const std::vector<std::string>& by) {
  ComparisonQuery query;
  query.by = by;
  query.margin = 0.05;
  return csv_of(comparison_csv_table(compare_cells(listing, rows_of(listing), query)));
}

TEST(CsvListing, ATableOfResultsGivesTheSameComparison) {
  GridCells grid = two_factor_grid();
  grid.arm("gpt, \"plain\"", {2.36, 2.35, 2.37, 2.36, 2.34}, "gpt").baseline("16,0.1");
  grid.at("32,0.2", 3).status = CellStatus::Diverged;
  grid.at("64,0.2", 1).metrics.clear();
  grid.at("16,0.2", 2).parameters = 4711;
  const Listing read = csv_listing(csv_of_listing(grid.listing), "t.csv");
  ASSERT_EQ(read.cells.size(), grid.listing.cells.size());
  for (std::size_t row = 0; row < read.cells.size(); ++row) {
    const CellSummary& one = read.cells[row];
    const CellSummary& other = grid.listing.cells[row];
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.alias, other.alias);
    EXPECT_EQ(one.arm, other.arm);
    EXPECT_EQ(one.tag, other.tag);
    EXPECT_EQ(one.seed, other.seed);
    EXPECT_EQ(one.status, other.status);
    EXPECT_EQ(one.parameters, other.parameters);
    EXPECT_EQ(one.overrides, other.overrides);
    EXPECT_EQ(one.metrics, other.metrics);
    EXPECT_EQ(read.baseline[row], grid.listing.baseline[row]);
  }
  EXPECT_EQ(csv_of_listing(read), csv_of_listing(grid.listing));
  for (const std::vector<std::string>& by :
       {std::vector<std::string>{"arm"}, {"d_model"}, {"d_model", "lr"}}) {
    EXPECT_EQ(numbers_of(read, by), numbers_of(grid.listing, by)) << by.front();
  }
}

TEST(CsvListing, ATableThatAPersonWrote) {
  const Listing read =
      csv_listing("arm,seed,final_loss.valid\ngpt2,0,2.5\ngpt2,1,2.25\nmine,0,2\nmine,1,1.5\n",
                  "folder/own.csv");
  ASSERT_EQ(read.cells.size(), 4U);
  EXPECT_EQ(read.sweep, "own");
  EXPECT_EQ(read.store, "folder/own.csv");
  EXPECT_EQ(read.metric, "final_loss.valid");
  EXPECT_EQ(read.cells[1].status, CellStatus::Completed);
  EXPECT_EQ(read.cells[1].alias, "gpt2,s1");
  EXPECT_EQ(read.cells[1].id, "folder/own.csv:3");
  EXPECT_TRUE(read.cells[1].in_plan);
  EXPECT_TRUE(read.of_table(1));
  ComparisonQuery query;
  query.baseline = "gpt2";
  const Comparison compared = compare_cells(read, rows_of(read), query);
  EXPECT_EQ(compared.goal, "minimize");
  EXPECT_EQ(evidence_for(table_of(compared, "arm"), "mine").contrast.mean, -0.625);
  EXPECT_NE(comparison_text(read, compared, Colour::No).find(tables_note(read)), std::string::npos);
  EXPECT_NE(tables_note(read).find("folder/own.csv"), std::string::npos);
  EXPECT_EQ(tables_note(two_factor_grid().listing), "");
}

TEST(CsvListing, ColumnsAreLeavesOfTheirTypeOrMetrics) {
  const Listing read = csv_listing(
      "tag,seed,model.d_model,train.lr,model.family,eval.final_windows,data.corpus@sha256,mine,"
      "final_accuracy.valid\n"
      "a,7,64,1,gpt,null,00ff,1e-3,.5\n"
      "b,-1,,0.5,,16,,nan,\n",
      "t.csv");
  const CellSummary& a = read.cells[0];
  EXPECT_EQ(a.arm, "a") << "without an arm, the tag is it";
  EXPECT_EQ(*find_key(a.overrides, "model.d_model"), Value(64));
  EXPECT_EQ(*find_key(a.overrides, "train.lr"), Value(1.0)) << "a real, whatever it looks like";
  EXPECT_EQ(*find_key(a.overrides, "model.family"), Value("gpt"));
  EXPECT_TRUE(find_key(a.overrides, "eval.final_windows")->is_null());
  EXPECT_EQ(*find_key(a.overrides, "data.corpus@sha256"), Value("00ff"));
  EXPECT_EQ(a.metrics.at("mine"), 1e-3);
  const CellSummary& b = read.cells[1];
  EXPECT_EQ(b.seed, -1);
  EXPECT_EQ(find_key(b.overrides, "model.d_model"), nullptr);
  EXPECT_TRUE(b.metrics.empty()) << "nan and blank are no numbers";
  EXPECT_EQ(read.metric, "mine") << "the first, where no column is one of the usual";
  EXPECT_EQ(read.leaves.number(1, "eval.final_windows"), 16);
  EXPECT_EQ(read.leaves.find(0, "model.d_model"), nullptr);
}

TEST(CsvListing, ALeafThatIsNullComesBack) {
  GridCells grid;
  grid.grid({{"eval.final_windows", {Value(), 16}}}, 2,
            [](const auto& at, std::int64_t seed) { return static_cast<double>(at[0]) + seed; });
  const Listing read = csv_listing(csv_of_listing(grid.listing), "t.csv");
  EXPECT_EQ(read.cells[0].overrides, grid.listing.cells[0].overrides);
  EXPECT_EQ(read.cells[2].overrides, grid.listing.cells[2].overrides);
}

TEST(CsvListing, BesideAStoreOnlyWhatColumnsSayIsChecked) {
  GridCells store({{"eval.final_windows", 8}, {"data.corpus", "wikitext2"}});
  store.arm("ours", {2.0, 2.1, 2.3});
  const std::string rows = "theirs,0,3,16\ntheirs,1,3.2,16\ntheirs,2,3.1,16\n";
  const auto refused = [&](const std::string& column) {
    const Listing both = listing_union(
        {csv_listing("arm,seed,final_loss.valid," + column + "\n" + rows, "t.csv"), store.listing});
    EXPECT_EQ(both.metric, "final_loss.valid");
    EXPECT_EQ(both.goal, "minimize") << "the question is that of the store";
    EXPECT_EQ(both.tables, std::vector<std::string>{"t.csv"});
    EXPECT_TRUE(both.of_table(0));
    EXPECT_FALSE(both.of_table(3));
    ComparisonQuery query;
    query.baseline = "ours";
    const Comparison compared = compare_cells(both, rows_of(both), query);
    return static_cast<bool>(evidence_for(table_of(compared, "arm"), "theirs").pairs.refused);
  };
  EXPECT_FALSE(refused("eval_windows_of_theirs"));
  EXPECT_TRUE(refused("eval.final_windows"));
}

TEST(CsvListing, ArmsOfATableMayHaveSeveralCombinations) {
  const Listing read =
      csv_listing("arm,seed,model.d_model,loss\na,0,16,1\na,0,32,3\nb,0,16,5\nb,0,32,9\n", "t.csv");
  ComparisonQuery query;
  query.baseline = "a";
  const Comparison compared = compare_cells(read, rows_of(read), query);
  const EffectTable& table = table_of(compared, "arm");
  EXPECT_EQ(table.others, std::vector<std::string>{"model.d_model"});
  EXPECT_EQ(evidence_for(table, "b").contrast.mean, 5) << "the mean of both widths, 7 less 2";
}

TEST(CsvListing, EachErrorHasItsPlaceAndItsColumn) {
  struct Case {
    const char* text;
    const char* place;
    const char* names;
  };
  const Case cases[] = {
      {"", "t.csv:1:1: ", "final_loss.valid"},
      {"arm,seed,loss\n", "t.csv:1:1: ", "no row"},
      {"arm,loss\na,1\n", "t.csv:1:1: ", "column seed"},
      {"seed,loss\n0,1\n", "t.csv:1:1: ", "column arm"},
      {"arm,seed,model.d_model\na,0,1\n", "t.csv:1:1: ", "metric"},
      {"arm,seed,loss,loss\na,0,1,1\n", "t.csv:1:10: ", "two columns loss"},
      {"arm,,loss\na,0,1\n", "t.csv:1:5: ", "name of a column"},
      {"arm,seed,loss\na,x,1\n", "t.csv:2:3: ", "seed: 'x'"},
      {"arm,seed,loss\na,,1\n", "t.csv:2:3: ", "seed: ''"},
      {"arm,seed,loss\n,0,1\n", "t.csv:2:1: ", "arm or a tag"},
      {"arm,seed,loss\na,0,low\n", "t.csv:2:5: ", "loss: 'low'"},
      {"arm,seed,loss\na,0,\"2,5\"\n", "t.csv:2:5: ", "loss: '2,5'"},
      {"arm,seed,modle.d_model,loss\na,0,wide,1\n", "t.csv:2:5: ", "no leaf"},
      {"arm,seed,model.d_model,loss\na,0,wide,1\n", "t.csv:2:5: ", "model.d_model: 'wide'"},
      {"arm,seed,train.lr,loss\na,0,inf,1\n", "t.csv:2:5: ", "train.lr: 'inf'"},
      {"arm,seed,status,loss\na,0,done,1\n", "t.csv:2:5: ", "completed"},
      {"arm,seed,baseline,loss\na,0,yes,1\n", "t.csv:2:5: ", "true or false"},
      {"arm,seed,parameters,loss\na,0,1.5,1\n", "t.csv:2:5: ", "whole number"},
      {"id,arm,seed,loss\n,a,0,1\n", "t.csv:2:1: ", "no id"},
      {"id,arm,seed,loss\nx,a,0,1\nx,a,1,1\n", "t.csv:3:1: ", "line 2"},
      {"arm,seed,loss\na,0,1\nb,0,1\na,0,2\n", "t.csv:4:1: ", "line 2"},
      {"arm;seed;loss\na;0;1\n", "t.csv:1:1: ", "commas"},
  };
  for (const Case& one : cases) {
    const std::string said = refusal_of(one.text);
    EXPECT_TRUE(said.starts_with(one.place)) << said;
    EXPECT_NE(said.find(one.names), std::string::npos) << said << "\n" << one.text;
  }
}

TEST(CsvListing, AFileIsNamedAsTheUserNamedIt) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "own.csv";
  EXPECT_THROW(read_csv_listing(file), StorageError);
  std::ofstream(file) << "arm,seed,loss\r\na,0,1\r\n";
  EXPECT_EQ(read_csv_listing(file).store, file.string());
}

}  // namespace csv_listing_test
}  // namespace depthgrid
