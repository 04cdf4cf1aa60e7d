#include "cli/analyse/compare_argument.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace compare_argument_test {

class ComparedListing : public testing::Test {
 protected:
  ComparedListing() {
    const Store store = Store::open_or_create(store_);
    publish_plan(store, synthetic_sweep({0.1, 0.2}));
  }

  std::string table(const std::string& name, const std::string& text) {
    const std::string file = (folder_.path() / name).string();
    std::ofstream(file) << text;
    return file;
  }

  static Listing listing_of(const std::vector<std::string>& arguments) {
    CommandLine line("compare [STORE…]", "Compares.");
    comparison_options(line).list("by", "NAME,...", "factors");
    line.parse(arguments);
    return compared_listing(line);
  }
  static std::string refusal_of(const std::vector<std::string>& arguments) {
    try {
      listing_of(arguments);
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::Usage);
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  std::string store_ = (folder_.path() / "s").string();
};

TEST_F(ComparedListing, ATableThatIsNotThereIsNoStore) {
  try {
    listing_of({(folder_.path() / "nosuch.csv").string()});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::NoInput);
    EXPECT_NE(std::string(error.what()).find("nosuch.csv: there is no such file"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(ComparedListing, WhatIsComparedIsRead) {
  const auto query_of_words = [](const std::vector<std::string>& arguments) {
    CommandLine line("compare [STORE…]", "Compares.");
    comparison_options(line);
    line.parse(arguments);
    return comparison_query(line);
  };
  EXPECT_EQ(query_of_words({"--goal", "maximize"}).goal, "maximize");
  EXPECT_EQ(query_of_words({}).goal, "");
  EXPECT_THROW(query_of_words({"--goal", "more"}), UserError);
  EXPECT_EQ(query_of_words({"--margin", "0.5"}).margin, 0.5);
  EXPECT_EQ(query_of_words({}).margin, std::nullopt);
  EXPECT_THROW(query_of_words({"--margin", "0"}), UserError);
  EXPECT_EQ(query_of_words({"--allow", "order,clip"}).allowed,
            (std::vector<std::string>{"order", "clip"}));
}

TEST_F(ComparedListing, AFileThatEndsInCsvIsATable) {
  const std::string own = table("own.csv", "arm,seed,final_loss.valid\ngpt2,0,2.5\n");
  const Listing one = listing_of({own});
  EXPECT_EQ(one.tables, std::vector<std::string>{own});
  EXPECT_EQ(one.cells.size(), 1U);
  EXPECT_THROW(require_stores(one, "--last"), UserError);
  const Listing both = listing_of({store_, own});
  EXPECT_EQ(both.stores, (std::vector<std::string>{store_, own}));
  EXPECT_FALSE(both.of_table(0));
  EXPECT_TRUE(both.of_table(both.cells.size() - 1));
  const Listing store = listing_of({store_});
  EXPECT_TRUE(store.tables.empty());
  EXPECT_NO_THROW(require_stores(store, "--last"));
}

TEST_F(ComparedListing, ATableThatIsNotThereIsNamedAsOne) {
  try {
    listing_of({(folder_.path() / "no.csv").string()});
    FAIL() << "it is not there";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::NoInput);
    EXPECT_NE(std::string(error.what()).find("a table of cells was expected"), std::string::npos);
  }
}

TEST_F(ComparedListing, ACellOfTwoTablesIsNotCountedOnceUnsaid) {
  const std::string a = table("a.csv", "arm,seed,loss\ngpt2,0,2.5\nown,0,2\n");
  const std::string b = table("b.csv", "arm,seed,loss\ngpt2,0,2.75\n");
  const std::string said = refusal_of({a, b});
  EXPECT_NE(said.find("gpt2"), std::string::npos) << said;
  EXPECT_NE(said.find(a), std::string::npos) << said;
  EXPECT_NE(said.find(b), std::string::npos) << said;
  EXPECT_EQ(listing_of({a, b, "--by", "store"}).cells.size(), 3U);
  const std::string c = table("c.csv", "arm,seed,loss\ngpt2,1,2.75\n");
  EXPECT_EQ(listing_of({a, c}).cells.size(), 3U) << "further seeds of an arm";
}

}  // namespace compare_argument_test
}  // namespace depthgrid
