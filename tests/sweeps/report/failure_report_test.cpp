#include "sweeps/report/failure_report.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/plan_sequence.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace failure_report_test {

TEST(FailureReport, HoldsTheLastWordsAndTheCommandThatRepeatsTheCell) {
  const TemporaryFolder scratch;
  const Sweep sweep = synthetic_sweep({1e-3, 2e-3}, 1);
  const Store store = Store::open_or_create(scratch.path() / "store");
  publish_plan(store, sweep);
  const CellId& id = sweep.cells[0].id;
  const auto json = parse_json(failure_json(
      store, id, {.kind = "crash", .message = "why", .job = "j", .host = "n1", .last_words = "…"}));
  const std::string file = (scratch.path() / "store" / "sweep.yaml").string();
  EXPECT_EQ(json["class"], "crash");
  EXPECT_EQ(json["plan"], 1);
  EXPECT_EQ(json["repeat"], "depthgrid run '" + file + "' --store '" +
                                (scratch.path() / "store" / "repeat").string() +
                                "' --only id=" + id);
  EXPECT_EQ(json["last_words"], "…");
  EXPECT_EQ(current_repeat(store, json["repeat"], 1), json["repeat"]);
  publish_plan(store, synthetic_sweep({3e-3}, 1));  // sweep.yaml is another one's now
  const std::string later = current_repeat(store, json["repeat"], 1);
  EXPECT_NE(later.find((scratch.path() / "store" / "sweep-1.yaml").string()), later.npos) << later;
}

TEST(FailureReport, NamesTheSweepThatHasTheCellEvenIfItIsNotTheNewest) {
  const TemporaryFolder scratch;
  const Sweep sweep = synthetic_sweep({1e-3}, 1);
  const Store store = Store::open_or_create(scratch.path() / "store");
  publish_plan(store, sweep);
  publish_plan(store, synthetic_sweep({3e-3}, 1));  // while the first one's cells train
  const auto json =
      parse_json(failure_json(store, sweep.cells[0].id, {.kind = "crash", .message = "why"}));
  EXPECT_EQ(json["plan"], 1);
  const std::string repeat = json["repeat"];
  const std::string own = (scratch.path() / "store" / "sweep-1.yaml").string();
  EXPECT_NE(repeat.find(own), repeat.npos) << repeat;
  EXPECT_EQ(current_repeat(store, repeat, 1), repeat);
}

}  // namespace failure_report_test
}  // namespace depthgrid
