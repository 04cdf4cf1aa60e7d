#include "cli/arguments/store_argument.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace store_argument_test {

class WeightChoice : public testing::Test {
 protected:
  WeightChoice() {
    const Store store = Store::open_or_create(store_);
    publish_plan(store, synthetic_sweep({0.1, 0.2}));
    id_ = read_plan(store).cells[1].id;
  }

  static CellChoice choice_of(const std::vector<std::string>& arguments) {
    CommandLine line("eval CELL [STORE]", "Evaluates.");
    weight_options(line).parse(arguments);
    return weight_choice(line);
  }
  static std::string refusal_of(const std::vector<std::string>& arguments) {
    try {
      choice_of(arguments);
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::Usage);
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  std::string store_ = (folder_.path() / "s").string();
  std::string id_;
};

TEST_F(WeightChoice, TheCellIsTheFirstArgumentOrAnOption) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"lr=0.2,s0", store_},
                                                    {"lr=0.2,s0", "--store", store_},
                                                    {store_, "--cell", "lr=0.2,s0"},
                                                    {"--cell", "lr=0.2,s0", "--store", store_}}) {
    EXPECT_EQ(choice_of(arguments).cell, id_) << arguments[0];
    EXPECT_EQ(choice_of(arguments).store, store_) << arguments[0];
  }
}

TEST_F(WeightChoice, WhatIsMissingOrTooMuchIsSaid) {
  EXPECT_TRUE(refusal_of({}).starts_with("CELL "));
  EXPECT_TRUE(refusal_of({store_}).starts_with("CELL "));
  EXPECT_NE(refusal_of({store_}).find(store_), std::string::npos);
  const std::string both = refusal_of({"lr=0.1,s0", store_, "--cell", "lr=0.2,s0"});
  EXPECT_NE(both.find("lr=0.1,s0"), std::string::npos) << both;
  EXPECT_NE(both.find("lr=0.2,s0 (--cell)"), std::string::npos) << both;
}

}  // namespace store_argument_test
}  // namespace depthgrid
