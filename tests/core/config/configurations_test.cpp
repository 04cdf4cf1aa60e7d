// Every file in configs/ expands without a problem, to as many arms and cells as its first lines
// say; and its ids are among those of fusion_keys.json.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {
namespace configurations_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kSources = DEPTHGRID_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Files in configs/ and the folders under it, relative to the sources.
std::vector<std::string> configurations() {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kSources / "configs")) {
    if (entry.path().extension() == ".yaml") {
      found.insert(fs::relative(entry.path(), kSources).string());
    }
  }
  return {found.begin(), found.end()};
}

/// The sweeps of fusion_keys.json without --set, by file.
std::map<std::string, Json> recorded() {
  std::map<std::string, Json> out;
  std::ifstream keys(kSources / "tests/core/config/fusion_keys.json");
  for (const Json& one : Json::parse(keys)) {
    if (one["set"].empty()) out[one["file"].get<std::string>()] = one;
  }
  return out;
}

TEST(Configurations, EachExpandsToTheCellsThatItsFirstLinesCount) {
  const std::map<std::string, Json> keys = recorded();
  for (const std::string& file : configurations()) {
    SCOPED_TRACE(file);
    ASSERT_TRUE(keys.contains(file)) << "its ids are missing in fusion_keys.json";
    const Sweep sweep =
        load_sweep({.file = kSources / file,
                    .set = {},
                    .matched = matched_from_json(json_text(keys.at(file)["match"]))});
    std::set<std::string> arms;
    for (const CellPlan& cell : sweep.cells) arms.insert(cell.arm);

    static const std::regex counts(R"(([A-Za-z-]+) arms, [^.]*?(\d+)\s*(?:#\s*)?cells)");
    std::smatch said;
    const std::string text = text_of(kSources / file);
    if (!std::regex_search(text, said, counts)) {
      EXPECT_FALSE(file.starts_with("configs/study")) << "it does not say how many cells it has";
      continue;
    }
    EXPECT_EQ(std::stoul(said[2]), sweep.cells.size());
    static const std::map<std::string, std::size_t> words = {
        {"two", 2},          {"three", 3},     {"four", 4},    {"five", 5},
        {"six", 6},          {"seven", 7},     {"eight", 8},   {"nine", 9},
        {"ten", 10},         {"eleven", 11},   {"twelve", 12}, {"sixteen", 16},
        {"seventeen", 17},   {"nineteen", 19}, {"twenty", 20}, {"twenty-three", 23},
        {"twenty-seven", 27}};
    std::string word = said[1];
    word.front() = static_cast<char>(std::tolower(word.front()));
    ASSERT_TRUE(words.contains(word)) << word;
    EXPECT_EQ(words.at(word), arms.size());
  }
}

}  // namespace configurations_test
}  // namespace depthgrid
