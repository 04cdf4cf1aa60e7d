#include "storage/columns/variables.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace depthgrid {
namespace variables_test {

TEST(Variables, NamesAreUniqueAndAxesExist) {
  std::set<std::string_view> names;

  for (const Variable& v : variables()) {
    EXPECT_TRUE(names.insert(v.name).second) << v.name;
    EXPECT_FALSE(axes_of(v).empty()) << v.name;
    for (const std::string& axis : axes_of(v)) EXPECT_NO_THROW(dimension(axis)) << v.name;
  }
}

TEST(Variables, NoUnitIsTheWordThatXarrayTurnsIntoTimedeltas) {
  for (const Variable& v : variables()) {
    EXPECT_FALSE(v.units.empty()) << v.name;
    const bool instant = v.units == kInstantUnits;
    EXPECT_EQ(v.units.find("second") != std::string_view::npos, instant) << v.name;
    EXPECT_TRUE(!instant || v.type == DataType::Float64) << v.name;
  }
}

TEST(Variables, KnowsALossAndItsAxes) {
  const Variable* v = find_variable("train_grad_norm_group");

  ASSERT_NE(v, nullptr);
  EXPECT_EQ(axes_of(*v), (std::vector<std::string>{"cell", "step", "parameter_group"}));
  EXPECT_EQ(v->type, DataType::Float32);
  EXPECT_EQ(find_variable("train_los"), nullptr);
}

TEST(Variables, TheWidthOfARowThatEveryCellHasFollowsFromTheTable) {
  EXPECT_EQ(row_numbers("step"), 13 + 2 * 17);
  EXPECT_EQ(row_numbers("eval_step"), 6 * 4);
  EXPECT_TRUE(is_record_axis("job"));
  EXPECT_TRUE(is_record_axis("event"));
  EXPECT_FALSE(is_record_axis("cell"));
  EXPECT_FALSE(is_record_axis("split"));
}

TEST(Variables, FlagsAreParsedFromTheirMeaning) {
  const std::vector<Flag> status = flags_of(find_variable("cell_status")->long_name);
  const std::vector<Flag> masked = flags_of(find_variable("train_nonfinite")->long_name);

  ASSERT_EQ(status.size(), 7U);
  EXPECT_EQ(status[6].value, 6);
  EXPECT_EQ(status[6].meaning, "oom");
  ASSERT_EQ(flags_of(find_variable("event_kind")->long_name).size(), 13U);
  EXPECT_EQ(flags_of(find_variable("event_kind")->long_name)[2].meaning, "checkpoint_rejected");
  ASSERT_EQ(masked.size(), 1U);
  EXPECT_EQ(masked[0].value, 1);
  EXPECT_EQ(masked[0].meaning, "non-finite_update_masked");
  EXPECT_TRUE(flags_of("readable name").empty());
}

TEST(Variables, SourcesAreFilesOfThisRepositoryAndSectionsOfThem) {
  const std::filesystem::path root(DEPTHGRID_SOURCE_DIR);
  for (const Variable& v : variables()) {
    const std::string source(v.source);
    const std::size_t comma = source.find(", ");
    const std::filesystem::path file = root / source.substr(0, comma);
    ASSERT_TRUE(std::filesystem::is_regular_file(file)) << v.name << ": " << source;
    if (comma == std::string::npos) continue;
    std::ifstream in(file);
    const std::string heading = "## " + source.substr(comma + 2);
    bool found = false;
    for (std::string line; std::getline(in, line);) found = found || line == heading;
    EXPECT_TRUE(found) << v.name << ": " << source;
  }
}

TEST(Variables, DocumentationHoldsTheTable) {
  std::ifstream file(std::string(DEPTHGRID_SOURCE_DIR) + "/docs/store-format.md");
  std::stringstream text;
  text << file.rdbuf();

  ASSERT_TRUE(file.is_open());
  EXPECT_NE(text.str().find(variables_markdown()), std::string::npos)
      << "docs/store-format.md must hold this, to the letter:\n"
      << variables_markdown();
}

}  // namespace variables_test
}  // namespace depthgrid
