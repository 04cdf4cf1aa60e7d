// Ids and fusion keys of every sweep in configs/ are those of fusion_keys.json, which
// `depthgrid plan FILE --json` wrote before the rule moved into the schema: a store that exists
// must be found again, and its cells fuse as they did.
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/config/sweep.hpp"

namespace depthgrid {
namespace fusion_keys_test {

using Json = nlohmann::json;

TEST(FusionKeys, OfEveryConfigurationAreTheOldOnes) {
  std::ifstream file_of_keys(DEPTHGRID_SOURCE_DIR "/tests/core/config/fusion_keys.json");
  for (const Json& one : Json::parse(file_of_keys)) {
    const auto file = one["file"].get<std::string>();
    SCOPED_TRACE(file + " " + json_text(one["set"]));
    const Sweep sweep = load_sweep({.file = DEPTHGRID_SOURCE_DIR "/" + file,
                                    .set = one["set"],
                                    .matched = matched_from_json(json_text(one["match"]))});

    std::map<std::string, std::string> cells;
    for (const CellPlan& cell : sweep.cells) {
      std::string& ids = cells[cell.structure];
      ids += (ids.empty() ? "" : " ") + cell.id;
    }

    EXPECT_TRUE(sweep.goals.empty());
    EXPECT_EQ(cells, (one["cells"].get<std::map<std::string, std::string>>()));
  }
}

}  // namespace fusion_keys_test
}  // namespace depthgrid
